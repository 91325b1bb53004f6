// What options need and exclude, as their rows say it.
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

class Judge {
  public:
    Judge(const Options& options, const Option& option, const Relation& relation, const Option& other)
        : options_(options), option_(option), relation_(relation), other_(other) {}

    void check_excluded() const {
        if (!is_asked() || !other_is_so()) return;
        throw base::OptionError(fmt::format("{} and {} exclude each other{}; leave one of them out", own(),
                                            shown(other_, options_.text(other_.name)), because(relation_)));
    }
    void check_needed() const {
        if (!is_asked() || other_is_so()) return;
        if (relation_.values.empty())
            throw base::OptionError(fmt::format("{} needs {}{}; give that too, or leave --{} out", own(),
                                                shown(other_, other_.placeholder), because(relation_),
                                                option_.name));
        throw base::OptionError(fmt::format(
            "{} is for --{} {}, but the {} is {}{}; give --{} {} too, or leave --{} out", own(), other_.name,
            base::join(relation_.values, " or "), other_.name, options_.text(other_.name), because(relation_),
            other_.name, relation_.values.front(), option_.name));
    }

  private:
    bool is_asked() const {
        return is_given(options_, option_) &&
               (relation_.own.empty() || is_among(relation_.own, options_.text(option_.name)));
    }
    bool other_is_so() const {
        if (relation_.values.empty()) return is_given(options_, other_);
        return options_.has(other_.name) && is_among(relation_.values, options_.text(other_.name));
    }
    std::string own() const { return shown(option_, options_.text(option_.name)); }

    const Options& options_;
    const Option& option_;
    const Relation& relation_;
    const Option& other_;
};

}  // namespace

void Options::check_relations() const {
    for (const auto& option : schema_.all()) {
        for (const auto& relation : option.excludes)
            Judge(*this, option, relation, schema_.at(relation.other)).check_excluded();
        for (const auto& relation : option.needs)
            Judge(*this, option, relation, schema_.at(relation.other)).check_needed();
    }
}

void Options::drop_overruled() {
    for (const auto& option : schema_.all())
        if (!option.instead_of.empty()) prefer_one_of(option.instead_of, option.name);
}

}  // namespace ranklab::options
