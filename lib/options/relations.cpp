// Needs and exclusions of options, from their rows.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "options/options.hpp"

namespace ranklab::options {
namespace {

using Values = std::vector<std::string>;

bool is_among(const Values& values, const std::string& value) {
    return std::ranges::find(values, value) != values.end();
}

bool is_given(const Options& options, const Option& option) {
    return options.is_set(option.name) && options.text(option.name) != option.fallback;
}

// "--jit", "--precision bf16"; without a value its placeholder.
std::string shown(const Option& option, const std::string& value) {
    const std::string name = "--" + option.name;
    return option.type == Type::flag ? name : name + ' ' + base::printable(value, 60);
}

std::string because(const Relation& relation) {
    return relation.because.empty() ? "" : ": " + relation.because;
}

bool is_asked(const Options& options, const Option& option, const Relation& relation) {
    return is_given(options, option) &&
           (relation.own.empty() || is_among(relation.own, options.text(option.name)));
}

bool is_so(const Options& options, const Option& other, const Relation& relation) {
    if (relation.values.empty()) return is_given(options, other);
    return options.has(other.name) && is_among(relation.values, options.text(other.name));
}

[[noreturn]] void refuse_lack(const Options& options, const std::string& own, const Option& option,
                              const Option& other, const Relation& relation) {
    if (relation.values.empty())
        throw base::OptionError(fmt::format("{} needs {}{}; give that too, or leave --{} out", own,
                                            shown(other, other.placeholder), because(relation),
                                            option.name));
    throw base::OptionError(fmt::format(
        "{} is for --{} {}, but the {} is {}{}; give --{} {} too, or leave --{} out", own,
        other.name, base::join(relation.values, " or "), other.name, options.text(other.name),
        because(relation), other.name, relation.values.front(), option.name));
}

}  // namespace

void Options::check_relations() const {
    for (const auto& option : schema_.all()) {
        const auto own = [&] { return shown(option, text(option.name)); };
        for (const auto& relation : option.excludes) {
            const Option& other = schema_.at(relation.other);
            if (is_asked(*this, option, relation) && is_so(*this, other, relation))
                throw base::OptionError(
                    fmt::format("{} and {} exclude each other{}; leave one of them out", own(),
                                shown(other, text(other.name)), because(relation)));
        }
        for (const auto& relation : option.needs) {
            const Option& other = schema_.at(relation.other);
            if (is_asked(*this, option, relation) && !is_so(*this, other, relation))
                refuse_lack(*this, own(), option, other, relation);
        }
    }
}

void Options::drop_overruled() {
    for (const auto& option : schema_.all())
        if (!option.instead_of.empty()) prefer_one_of(option.instead_of, option.name);
}

}  // namespace ranklab::options
