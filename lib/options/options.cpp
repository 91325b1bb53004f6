#include "options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "options/sections.hpp"
#include "options/templates.hpp"

namespace ranklab::options {
namespace po = boost::program_options;
namespace {

// True for options that a config file must not have: there --help, for example, would do nothing.
bool is_for_the_command_line(const Option& option) {
    return option.name == "config" || (option.role == Role::request && option.name != "dry-run");
}

po::options_description boost_description(const Schema& schema) {
    po::options_description list;
    for (const auto& option : schema.all()) {
        const std::string names = option.shorthand == 0
                                      ? option.name
                                      : option.name + ',' + option.shorthand;  // "files,n"
        if (option.type == Type::flag)
            list.add_options()(names.c_str(), po::bool_switch());
        else
            list.add_options()(names.c_str(), po::value<std::string>());
    }
    return list;
}

// The advice for an unknown option, the first that exists: our name for another program's word, the
// advice of Schema::no_option, the option's new name, the nearest known name.
std::string hint(const Schema& schema, std::string name, const char* dashes) {
    std::ranges::replace(name, '_', '-');
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const auto& line : base::split(template_text("words_of_others.txt"), '\n')) {
        const auto cells = base::split(line, '|');  // their names, our name, what differs
        const auto theirs = base::split(cells[0], ' ');
        if (cells.size() == 3 && std::ranges::count(theirs, name) > 0 &&
            schema.find(cells[1].substr(0, cells[1].find(' '))) != nullptr)
            return fmt::format("here it is {}{}{}{}", dashes, cells[1],
                               cells[2].empty() ? "" : "; ", cells[2]);
    }
    for (const auto& [words, advice] : schema.no_options())
        if (std::ranges::find(words, name) != words.end()) return advice;
    const auto renamed = std::ranges::find(schema.all(), name, &Option::former);
    if (!name.empty() && renamed != schema.all().end())
        return fmt::format("it is now {}{}", dashes, renamed->name);
    std::vector<std::string> names;
    for (const auto& option : schema.all()) names.push_back(option.name);
    // A single letter is a wrong short name, not a misspelt long one: no suggestion.
    const std::string question = name.size() == 1 ? "" : base::did_you_mean(name, names, dashes);
    return question.empty() ? "--help all lists the options" : question;
}

// The option's name without dashes and value; printable, since an argument may hold any bytes.
std::string bare(std::string name) {
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    return base::printable(name.substr(0, name.find('=')), 60);
}

bool within(const Option& option, double number) {
    return std::isfinite(number) && number >= option.minimum && number <= option.maximum;
}

// True if the value names a file with one of the option's suffixes, "a.py", or something that such
// a file defines, "a.py:name".
bool names_file(const Option& option, const std::string& value) {
    return std::ranges::any_of(base::split(option.file_suffix, ','), [&](const auto& suffix) {
        return !suffix.empty() &&
               (value.ends_with(suffix) || value.find(suffix + ':') != std::string::npos);
    });
}

bool is_right(const Option& option, const std::string& value) {
    const auto fits = [&](auto number) {
        return number && within(option, static_cast<double>(*number));
    };
    switch (option.type) {
        case Type::choice:
            return std::ranges::find(option.choices, value) != option.choices.end() ||
                   names_file(option, value);
        case Type::integer:
            return fits(base::number_in<std::int64_t>(value));
        case Type::real:
            return fits(base::number_in<double>(value));
        case Type::bytes:
            return fits(parse_bytes(value));
        case Type::flag:
            return value == "true" || value == "false";
        default:
            return true;
    }
}

// "must be a whole number of at least 1 and at most 8, not '9'"
std::string what_it_takes(const Option& option, const std::string& value) {
    const std::string shown = base::printable(value, 60);
    if (option.type == Type::flag) return "takes true or false";
    if (option.type == Type::choice) {
        auto choices = option.choices;
        for (const auto& suffix : base::split(option.file_suffix, ','))
            if (!suffix.empty()) choices.push_back("FILE" + suffix);
        return fmt::format("cannot be '{}'; it is one of {}{}", shown, base::join(choices, ", "),
                           base::or_did_you_mean(value, option.choices));
    }
    if (option.type == Type::bytes)
        return fmt::format(
            "must be a number of bytes of at least {:.0f}, such as 4096, 64K, 1MiB or 10MB (K M "
            "G T are powers of 1024), not '{}'",
            option.minimum, shown);
    if (option.type == Type::real)
        return fmt::format("must be a number of {}at least {} and at most {}, not '{}'",
                           option.unit.empty() ? "" : option.unit + ", ", option.minimum,
                           option.maximum, shown);
    const bool any = option.maximum >= static_cast<double>(kWholeNumbers);
    return fmt::format("must be a whole number of at least {:.0f}{}, not '{}'", option.minimum,
                       any ? "" : fmt::format(" and at most {:.0f}", option.maximum), shown);
}

void check_value(const Schema& schema, const Option& option, const std::string& value,
                 const std::string& source) {
    if (is_right(option, value)) return;
    if (!schema.list_advice().empty() && value.find(',') != std::string::npos)
        throw base::OptionError(fmt::format("{} takes one value, not '{}'; {}", source,
                                            base::printable(value, 60), schema.list_advice()));
    throw base::OptionError(source + ' ' + what_it_takes(option, value));
}

// Rethrows Boost's exceptions as OptionErrors.
[[noreturn]] void rethrow_as_sentence(const Schema& schema) {
    try {
        throw;
    } catch (const po::unknown_option& error) {
        const std::string name = bare(error.get_option_name());
        throw base::OptionError(fmt::format("unknown option {}{}; {}",
                                            error.get_option_name().starts_with("--") ? "--" : "-",
                                            name, hint(schema, name, "--")));
    } catch (const po::error_with_option_name& error) {
        const std::string name = bare(error.get_option_name());
        const Option* known = schema.find(name);
        throw base::OptionError(
            fmt::format("--{} {}", name,
                        known != nullptr && known->type == Type::flag
                            ? "takes no value; give it alone, or leave it out"
                            : "has no usable value; --help shows what it takes"));
    } catch (const po::error& error) {
        throw base::OptionError(
            fmt::format("{}; --help shows how options are written", error.what()));
    }
}

const Option& option_of_key(const Schema& schema, const std::string& key, const std::string& path) {
    if (const Option* option = schema.find(key)) return *option;
    const std::string name = base::printable(key, 60);
    if (key.find('.') != std::string::npos)
        throw base::OptionError(
            fmt::format("{}: '{}' is in a [section], but this file has none; delete the [...] line",
                        path, name));
    throw base::OptionError(
        fmt::format("{}: unknown key {}; {}", path, name, hint(schema, key, "")));
}

// Adds Schema::bare's value after each option that was given without a value.
std::vector<std::string> completed(const Schema& schema, const std::vector<std::string>& given) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < given.size(); ++i) {
        words.push_back(given[i]);
        const bool is_short = given[i].size() == 2 && given[i].front() == '-';
        const auto named = std::ranges::find_if(schema.all(), [&](const Option& one) {
            return is_short ? one.shorthand == given[i].back() : "--" + one.name == given[i];
        });
        const Option* const option = named == schema.all().end() ? nullptr : &*named;
        const bool alone = i + 1 == given.size() || given[i + 1].starts_with("-");
        if (option != nullptr && alone && !option->bare.empty()) words.push_back(option->bare);
    }
    return words;
}

std::vector<po::option> parsed(const Schema& schema, const std::vector<std::string>& arguments) {
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const auto description = boost_description(schema);
    try {
        return po::command_line_parser(completed(schema, arguments))
            .options(description)
            .style(style)
            .run()
            .options;
    } catch (const po::error&) {
        rethrow_as_sentence(schema);
    }
}

}  // namespace

double fraction(const std::string& option, const std::string& text) {
    const auto percent = base::percentage_in(text);
    if (!percent || !(*percent > 0 && *percent < 100))
        throw base::OptionError(
            fmt::format("--{} {}: give a percentage of the value, such as --{} 5%", option,
                        base::printable(text, 40), option));
    return *percent / 100;
}

Options Options::parse(const Schema& schema, const std::vector<std::string>& arguments) {
    Options result(schema);
    std::map<std::string, std::string> given;
    for (const auto& one : parsed(schema, arguments)) {
        if (one.position_key >= 0) {
            result.positional_.insert(result.positional_.end(), one.value.begin(), one.value.end());
            continue;
        }
        const std::string text = one.value.empty() ? "true" : one.value.front();
        // The last value of a repeated option counts (job scripts end in "$@"); a list keeps all.
        const auto [at, is_new] = given.try_emplace(one.string_key, text);
        const bool is_list = schema.at(one.string_key).type == Type::texts;
        if (!is_new) at->second = is_list ? at->second + kBetweenTexts + text : text;
    }
    if (result.positional_.size() > schema.most_positional())
        throw base::OptionError(fmt::format(
            "'{}' is not expected here; options start with --, and --help all lists them",
            base::printable(result.positional_[schema.most_positional()], 60)));
    for (const auto& option : schema.all())
        if (const auto one = given.find(option.name); one != given.end())
            result.set(option, one->second, "--" + option.name);
    result.refuse_two_of_one();
    return result;
}

Options Options::with_config(const std::string& path, const std::string& text) const {
    Options merged = *this;
    std::set<std::string> keys;
    for (const auto& [key, value] : ini_lines(path, text)) {
        const Option& option = option_of_key(schema_, key, path);
        const std::string source = fmt::format("{}: {}", path, key);
        if (!keys.insert(key).second)
            throw base::OptionError(source + " is given more than once; give it once");
        if (is_for_the_command_line(option))
            throw base::OptionError(source + " is for the command line; leave it out");
        if (!is_overruled(option)) merged.set(option, value, source);
    }
    merged.refuse_two_of_one();
    return merged;
}

// Whether the command line has the option, its replacement, or the option that it replaces.
bool Options::is_overruled(const Option& option) const {
    const auto replaces = [&](const Option& other) {
        return user_.contains(other.name) &&
               (other.instead_of == option.name || option.instead_of == other.name);
    };
    return user_.contains(option.name) || std::ranges::any_of(schema_.all(), replaces);
}

void Options::refuse_two_of_one() const {
    for (const auto& option : schema_.all())
        if (user_.contains(option.name) && user_.contains(option.instead_of))
            throw base::OptionError(fmt::format("--{} and --{} are both given; give one of them",
                                                option.instead_of, option.name));
}

void Options::set(const Option& option, std::string value, const std::string& source) {
    check_value(schema_, option, value, source);
    user_[option.name] = std::move(value);
}

const std::string* Options::text_of(const Option& option) const {
    if (const auto found = user_.find(option.name); found != user_.end()) return &found->second;
    return option.fallback ? &*option.fallback : nullptr;
}

std::vector<std::pair<std::string, std::string>> Options::unbound() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& option : schema_.all())
        if (const auto given = user_.find(option.name);
            given != user_.end() && option.field.owner == nullptr)
            all.emplace_back(*given);
    return all;
}

}  // namespace ranklab::options
