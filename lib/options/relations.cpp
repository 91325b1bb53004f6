// Checks which options need or exclude others, from their rows.
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

// "--jit", "--precision bf16"; without a value its placeholder.
std::string shown(const Option& option, const std::string& value) {
    const std::string name = "--" + option.name;
    return option.type == Type::flag ? name : name + ' ' + base::printable(value, 60);
}

std::string because(const Relation& relation) {
    return relation.because.empty() ? "" : ": " + relation.because;
}

// The settled options, and which of them the user gave.
class Settled {
  public:
    Settled(const Options& given, const std::vector<Effective>& all) : given_(given), all_(all) {}

    const Effective* find(const std::string& name) const {
        const auto found =
            std::ranges::find(all_, name, [](const auto& one) { return one.row->name; });
        return found == all_.end() ? nullptr : &*found;
    }
    bool triggers(const Effective& option, const Relation& relation) const {
        const bool unknown = (relation.values.empty() && !relation.property.empty()) ||
                             (relation.own.empty() && !relation.own_property.empty());
        return !unknown && given_.asks(option) &&
               (relation.own.empty() || is_among(relation.own, option.value));
    }
    bool holds(const Relation& relation) const {
        const auto* other = find(relation.other);
        if (other == nullptr) return false;
        return relation.values.empty() ? given_.asks(*other)
                                       : is_among(relation.values, other->value);
    }

  private:
    const Options& given_;
    const std::vector<Effective>& all_;
};

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

void Options::check_relations(const std::vector<Effective>& all) const {
    const Settled settled(*this, all);
    for (const auto& option : all) {
        for (const auto& relation : option.row->excludes)
            if (settled.triggers(option, relation) && settled.holds(relation))
                throw base::OptionError(fmt::format(
                    "{} and {} exclude each other{}; leave one of them out",
                    shown(*option.row, option.value),
                    shown(schema_.at(relation.other), settled.find(relation.other)->value),
                    because(relation)));
        for (const auto& relation : option.row->needs) {
            if (!settled.triggers(option, relation) || settled.holds(relation)) continue;
            const auto* other = settled.find(relation.other);
            refuse_lack(option, schema_.at(relation.other),
                        other == nullptr ? "none" : other->value, relation);
        }
    }
}

}  // namespace ranklab::options
