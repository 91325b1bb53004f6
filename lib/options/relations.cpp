// Checks that no option lacks one that it needs, or is given with one that it excludes.
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

// "--jit", "--precision bf16".
std::string shown(const Option& option, const std::string& value) {
    const std::string name = "--" + option.name;
    return option.type == Type::flag ? name : name + ' ' + base::printable(value, 60);
}

std::string because(const Relation& relation) {
    return relation.because.empty() ? "" : ": " + relation.because;
}

const Effective* find(const std::vector<Effective>& settled, const std::string& name) {
    const auto found =
        std::ranges::find(settled, name, [](const auto& one) { return one.row->name; });
    return found == settled.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_lack(const Effective& option, const Option& other,
                              const std::string& other_value, const Relation& relation) {
    const std::string own = shown(*option.row, option.value);
    if (relation.values.empty())
        throw base::OptionError(fmt::format("{} needs {}{}; give that too, or leave --{} out", own,
                                            shown(other, other.placeholder), because(relation),
                                            option.row->name));
    throw base::OptionError(
        fmt::format("{} is for --{} {}, but the {} is {}{}; give --{} {} too, or leave --{} out",
                    own, other.name, base::join(relation.values, " or "), other.name, other_value,
                    because(relation), other.name, relation.values.front(), option.row->name));
}

}  // namespace

bool Options::triggers(const Effective& option, const Relation& relation) const {
    const bool unknown = (relation.values.empty() && !relation.property.empty()) ||
                         (relation.own.empty() && !relation.own_property.empty());
    return !unknown && asks(option) &&
           (relation.own.empty() || is_among(relation.own, option.value));
}

bool Options::holds(const Effective* other, const Relation& relation) const {
    if (other == nullptr) return false;
    return relation.values.empty() ? asks(*other) : is_among(relation.values, other->value);
}

void Options::check_relations(const std::vector<Effective>& settled) const {
    for (const auto& option : settled) {
        for (const auto& relation : option.row->excludes) {
            const auto* other = find(settled, relation.other);
            if (triggers(option, relation) && holds(other, relation))
                throw base::OptionError(
                    fmt::format("{} and {} exclude each other{}; leave one of them out",
                                shown(*option.row, option.value), shown(*other->row, other->value),
                                because(relation)));
        }
        for (const auto& relation : option.row->needs) {
            const auto* other = find(settled, relation.other);
            if (triggers(option, relation) && !holds(other, relation))
                refuse_lack(option, schema_.at(relation.other),
                            other == nullptr ? "none" : other->value, relation);
        }
    }
}

}  // namespace ranklab::options
