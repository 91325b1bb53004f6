#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "options/schema.hpp"

namespace ranklab::options {

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
        {"K k KB KiB", 1ULL << 10U},
        {"M m MiB", 1ULL << 20U},
        {"G g GiB", 1ULL << 30U},
        {"T t TiB", 1ULL << 40U},
        {"kB", 1000ULL},
        {"MB", 1'000'000ULL},
        {"GB", 1'000'000'000ULL},
        {"TB", 1'000'000'000'000ULL}};
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [begin, error] = std::from_chars(text.data(), end, number);
    const std::string unit(begin, end);
    std::uint64_t factor = unit.empty() ? 1 : 0;
    for (const auto& [names, of] : kUnits)
        if (std::ranges::count(base::split(names, ' '), unit) > 0) factor = of;
    if (error != std::errc() || factor == 0 ||
        number > std::numeric_limits<std::uint64_t>::max() / factor)
        return std::nullopt;
    return number * factor;
}

std::string bytes_text(std::uint64_t bytes) {
    std::string unit;
    for (const char* larger : {"K", "M", "G", "T"}) {
        if (bytes == 0 || bytes % 1024 != 0) break;
        bytes /= 1024;
        unit = larger;
    }
    return std::to_string(bytes) + unit;
}

Schema& Schema::add(Option option) {
    if (option.shorthand != 0)
        if (const auto taken = std::ranges::find(options_, option.shorthand, &Option::shorthand);
            taken != options_.end())
            throw base::Error(
                fmt::format("internal: -{} is --{} already", option.shorthand, taken->name));
    option.section = section_;
    options_.push_back(std::move(option));
    return *this;
}

Schema& Schema::section(std::string title) {
    section_ = std::move(title);
    return *this;
}

Schema& Schema::row(Type type, const std::string& name, Bound to, std::string placeholder,
                    std::string help) {
    to.option.type = type;
    to.option.name = name;
    to.option.placeholder = std::move(placeholder);
    to.option.help = std::move(help);
    return add(std::move(to.option));
}

Schema& Schema::text(const std::string& name, Bound to, std::string placeholder, std::string help) {
    return row(Type::text, name, std::move(to), std::move(placeholder), std::move(help));
}

Schema& Schema::texts(const std::string& name, Bound to, std::string placeholder,
                      std::string help) {
    to.option.fallback.reset();
    return row(Type::texts, name, std::move(to), std::move(placeholder), std::move(help));
}

Schema& Schema::choice(const std::string& name, Bound to, Texts choices, std::string help) {
    std::string placeholder = base::join(choices, "|");
    to.option.choices = std::move(choices);
    return row(Type::choice, name, std::move(to), std::move(placeholder), std::move(help));
}

Schema& Schema::integer(const std::string& name, Bound to, WholeRange range, std::string help) {
    to.option.minimum = static_cast<double>(range.least);
    to.option.maximum = static_cast<double>(range.most);
    return row(Type::integer, name, std::move(to), "N", std::move(help));
}

Schema& Schema::real(const std::string& name, Bound to, RealRange range, std::string help) {
    to.option.minimum = range.least;
    to.option.maximum = range.most;
    return row(Type::real, name, std::move(to), "X", std::move(help));
}

Schema& Schema::bytes(const std::string& name, Bound to, std::uint64_t minimum, std::string help) {
    to.option.minimum = static_cast<double>(minimum);
    return row(Type::bytes, name, std::move(to), "SIZE", std::move(help));
}

Schema& Schema::flag(const std::string& name, Bound to, std::string help) {
    return row(Type::flag, name, std::move(to), "", std::move(help));
}

Schema& Schema::needs(Relation relation) {
    options_.back().needs.push_back(std::move(relation));
    return *this;
}

Schema& Schema::excludes(Relation relation) {
    options_.back().excludes.push_back(std::move(relation));
    return *this;
}

Schema& Schema::when_absent(std::string value, Relation where) {
    options_.back().when_absent.emplace_back(std::move(value), std::move(where));
    return *this;
}

Schema& Schema::no_option(std::vector<std::string> names, std::string advice) {
    no_options_.push_back({std::move(names), std::move(advice)});
    return *this;
}

Schema& Schema::no_lists(std::string advice) {
    list_advice_ = std::move(advice);
    return *this;
}

Schema& Schema::append(const Schema& other) {
    if (!other.list_advice_.empty()) list_advice_ = other.list_advice_;
    no_options_.insert(no_options_.end(), other.no_options_.begin(), other.no_options_.end());
    for (const auto& option : other.options_) {
        // The first option with a letter keeps the letter: in io, -w is --workers, not --warmup.
        const bool taken = option.shorthand != 0 &&
                           std::ranges::count(options_, option.shorthand, &Option::shorthand) > 0;
        options_.push_back(option);
        if (taken) options_.back().shorthand = 0;
        if (option.section.empty()) options_.back().section = section_;
    }
    return *this;
}

Schema& Schema::take(const Schema& other, const std::vector<std::string>& names) {
    for (const auto& name : names) add(other.at(name));
    return *this;
}

Schema& Schema::offer(const std::string& name, std::vector<std::string> choices,
                      const Properties& properties) {
    Option& option = const_cast<Option&>(at(name));
    option.placeholder = base::join(choices, "|") + option.placeholder;
    option.choices = std::move(choices);
    const auto name_entries = [&](const std::string& property, std::vector<std::string>& names) {
        if (const auto found = properties.find(property); found != properties.end())
            names = found->second;
    };
    for (Option& row : options_)
        for (auto* relations : {&row.needs, &row.excludes})
            for (Relation& relation : *relations) {
                if (relation.other == name) name_entries(relation.property, relation.values);
                if (row.name == name) name_entries(relation.own_property, relation.own);
            }
    return *this;
}

Schema& Schema::fallback(const std::string& name, std::string value) {
    const_cast<Option&>(at(name)).fallback = std::move(value);
    return *this;
}

Schema& Schema::positional(std::size_t most, std::size_t least) {
    most_positional_ = most;
    least_positional_ = least;
    return *this;
}

const Option* Schema::find(const std::string& name) const {
    const auto found = std::ranges::find(options_, name, &Option::name);
    return found == options_.end() ? nullptr : &*found;
}

const Option& Schema::at(const std::string& name) const {
    if (const Option* found = find(name)) return *found;
    throw base::Error(fmt::format("internal: no option '{}'", name));
}

namespace {

constexpr std::size_t kHelpColumn = 30;

// "  -n [ --files ] N"; a long list of choices continues on further lines, broken after a bar.
std::string usage_of(const Option& option) {
    std::string line = option.shorthand == 0
                           ? "  --" + option.name
                           : fmt::format("  -{} [ --{} ]", option.shorthand, option.name);
    if (option.type == Type::flag) return line;
    line += ' ';
    const std::size_t indent = line.size();
    std::string all;
    for (std::size_t begin = 0; begin < option.placeholder.size();) {
        const std::size_t bar = option.placeholder.find('|', begin);
        const std::size_t end = bar == std::string::npos ? option.placeholder.size() : bar + 1;
        if (line.size() + end - begin > base::kScreenColumns && line.size() > indent) {
            all += line + '\n';
            line = std::string(indent, ' ');
        }
        line += option.placeholder.substr(begin, end - begin);
        begin = end;
    }
    return all + line;
}

std::string help_of(const Option& option) {
    std::string usage = usage_of(option);
    std::string help = option.help;
    if (option.type != Type::flag && !option.fallback.value_or("").empty())
        help += fmt::format(" (default: {})", *option.fallback);
    const bool beside = usage.size() + 2 <= kHelpColumn;
    if (!beside) usage += '\n';
    usage.resize(beside ? kHelpColumn : usage.size(), ' ');
    const std::string indent(kHelpColumn, ' ');
    const std::string text = base::wrapped(indent, help);
    return usage + (beside ? text.substr(kHelpColumn) : text);
}

}  // namespace

std::string Schema::help(bool all) const {
    const auto essential =
        static_cast<std::size_t>(std::ranges::count(options_, true, &Option::essential));
    const bool some = !all && essential > 0;
    std::string text, section;
    for (const auto& option : options_) {
        if (some && !option.essential) continue;
        if (option.section != section || text.empty())
            text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", option.section);
        section = option.section;
        text += help_of(option);
    }
    if (some) text += fmt::format("\n{} more: --help all\n", options_.size() - essential);
    return text + '\n';
}

std::string user_message(std::string sentence, const base::Settings& settings) {
    if (settings.empty()) return sentence;
    std::vector<std::string> ways;
    for (const auto& name : settings)
        ways.push_back(name.front() >= 'A' && name.front() <= 'Z' ? name : "--" + name);
    const std::string options = base::join(ways, ", ") + ')';
    if (!sentence.ends_with(')')) return sentence + " (" + options;
    sentence.back() = ';';
    return sentence + ' ' + options;
}

std::string user_message(const std::exception& error) {
    const auto failure = base::describe_failure(error);
    return user_message(failure.sentence, failure.settings);
}

}  // namespace ranklab::options
