// Private to this room: which group another one may be compared with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/model/groups.hpp"
#include "report/model/series.hpp"

namespace ranklab::report::model {

/// The first time that both have; "" where there is none.
std::string common_time(const KeyedGroup& a, const KeyedGroup& b);
bool is_single_device(const KeyedGroup& group);

/// The same work was done by all, and the keys say how: ways to work together, or to write.
bool did_the_same_work(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys);

enum class Kind { same, strong, weak };
/// How the work of a step or job goes from one group to another.
struct Relation {
    Kind kind = Kind::same;
    double work = 1;  ///< of all ranks together, over the base's
    bool is(Kind of) const { return kind == of || kind == Kind::same; }
};

class Bases {
  public:
    Bases(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys, std::size_t place);

    struct Base {
        const KeyedGroup* group = nullptr;  ///< nullptr: none
        double work = 1;                    ///< of the group over the base's
    };
    const Base& strong(const KeyedGroup& group) const { return strong_[index(group)]; }
    const Base& weak(const KeyedGroup& group) const { return weak_[index(group)]; }
    /// Of one of the groups.
    std::size_t index(const KeyedGroup& group) const {
        return static_cast<std::size_t>(&group - groups_.data());
    }
    /// A clause why a group has no base although there is one of fewer ranks; "" where it has one, or no
    /// other group comes into question.
    std::string why_none(const KeyedGroup& group) const;
    double width(const KeyedGroup& group) const;
    /// Equal of groups that differ in what is scaled alone.
    SeriesKey key_of(const KeyedGroup& group) const;

  private:
    Base first_of(const KeyedGroup& group, Kind kind) const;
    std::vector<const KeyedGroup*> candidates(const KeyedGroup& group) const;
    std::optional<Relation> relation(const KeyedGroup& base, const KeyedGroup& group) const;
    std::vector<std::string> other_work(const KeyedGroup& base, const KeyedGroup& group) const;
    std::vector<std::string> pooled_work(const KeyedGroup& group) const;
    bool is_free(const std::string& setting) const;

    const std::vector<KeyedGroup>& groups_;
    const std::vector<std::string>& keys_;
    std::size_t place_;
    bool over_ranks_, one_host_ = true;
    std::vector<std::vector<std::string>> pooled_;  ///< of each group
    std::vector<Base> strong_, weak_;
};

}  // namespace ranklab::report::model
