// Private to this room: which group another one may be compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/model/scaling.hpp"

namespace ranklab::report::model {

/// Equal of groups that differ in what is scaled alone.
struct CurveKey {
    std::string work, between_ranks;
    auto operator<=>(const CurveKey&) const = default;
};

class Baselines {
  public:
    /// `over`: one of the keys.
    Baselines(const Groups& groups, const std::string& over);

    Against strong(std::size_t group) const { return first_of(group, Kind::strong); }
    Against weak(std::size_t group) const { return first_of(group, Kind::weak); }
    /// Why a group has no baseline although there is one of fewer ranks: names of settings; empty where it
    /// has one, or no other group comes into question.
    std::vector<std::string> other_work(std::size_t group) const;
    double width(std::size_t group) const;
    CurveKey key_of(std::size_t group) const;

  private:
    enum class Kind { same, strong, weak };
    /// How the work of a step or job goes from one group to another.
    struct Relation {
        Kind kind = Kind::same;
        double work = 1;
    };
    Against first_of(std::size_t group, Kind kind) const;
    std::vector<std::size_t> candidates(std::size_t group) const;
    std::optional<Relation> relation(const Group& base, const Group& group) const;
    std::vector<std::string> differing_work(const Group& base, const Group& group) const;
    std::vector<std::string> pooled_work(const Group& group) const;
    bool is_free(const std::string& setting) const;
    bool is_alone(const Group& group) const;

    const Groups& groups_;
    std::size_t place_;
    bool over_ranks_, one_host_ = true;
    std::vector<CurveKey> keys_;
};

/// Settings that define the work, as against how ranks work together. The surroundings are another matter.
bool is_work(const std::string& key);
/// Names of the factors, but for those that `is_free`, in which two groups differ or one has several.
template <class IsFree>
std::vector<std::string> differing_factors(const Group& a, const Group& b, IsFree is_free) {
    std::set<std::string> names(a.differing.begin(), a.differing.end());
    names.insert(b.differing.begin(), b.differing.end());
    for (const auto* factors : {&a.factors, &b.factors})
        for (const auto& [key, value] : *factors)
            if (a.factor(key) != b.factor(key)) names.insert(key);
    std::erase_if(names, is_free);
    return {names.begin(), names.end()};
}

}  // namespace ranklab::report::model
