// Runs that stand together, and what they say of a measurement.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/cores.hpp"
#include "report/model/runs_frame.hpp"

namespace ranklab::report::model {

/// Runs with equal keys and conditions.
struct Group {
    std::vector<std::string> key;   ///< in the order of Groups::keys
    std::vector<std::size_t> runs;  ///< rows of those that count: valid, with a measurement; the newest last
    std::size_t invalid = 0, without = 0;
    Cores cores;
    Conditions factors;                  ///< that all its runs have
    std::vector<std::string> differing;  ///< factors that are not the same in all
    std::vector<Doubt> doubts;
    bool not_summed = false;  ///< no gradients were summed in some

    bool valid() const { return !runs.empty(); }
    /// "" where its runs differ in it.
    std::string factor(const std::string& name) const;
};

/// What a group says of a measurement: the median over runs of the runs' medians with its 95 % interval (from
/// 6 runs on); of a single run its own.
struct Estimate {
    double value = stats::kNone;
    stats::Interval ci;
    std::size_t runs = 0;  ///< 0: none has it
    std::string unit;
};

class Groups {
  public:
    explicit Groups(RunsFrame runs);

    std::vector<Group> all;          ///< sorted by their keys
    std::vector<std::string> keys;   ///< those asked for, and then `apart`
    std::vector<std::string> apart;  ///< conditions in which the groups differ: nobody asked for them
    std::size_t without = 0;         ///< runs with none of the measurements

    const RunsFrame& runs() const { return runs_; }
    /// Of the runs that count, in their order.
    std::vector<double> values(const Group& group, std::string_view measurement) const;
    Estimate estimate(const Group& group, std::string_view measurement) const;
    bool has(const Group& group, std::string_view measurement) const {
        return !values(group, measurement).empty();
    }
    /// Of the measurements asked for, those that some group has.
    std::vector<std::string> measurements() const;
    /// "mode = ddp, ranks = 2"; without keys asked for "mnist-cnn, ddp bucketed, 2 ranks".
    std::string name(const Group& group) const;
    /// What names each of some groups beside the others: what is run, and settings in which they differ,
    /// without `but`.
    std::vector<std::string> titles(const std::vector<const Group*>& some,
                                    const std::set<std::string>& but = {}) const;
    const std::string& newest(const Group& group) const { return runs_.ids[group.runs.back()]; }
    /// The factor's value where all groups have the same.
    std::string common(const std::string& factor) const;

  private:
    RunsFrame runs_;
    std::vector<std::string> names_;  ///< of groups that nobody gave keys for
};

}  // namespace ranklab::report::model
