// Runs as one Frame, and groups of its rows: their keys, the conditions that keep them apart, their
// measurements and caveats.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/conditions.hpp"

namespace ranklab::report::model {

struct GroupQuery {
    /// To group by, as of value_of. Empty: by all that makes runs other than repetitions.
    std::vector<std::string> keys = {};
    std::vector<std::string> measurements = {};  ///< empty: the headline ones
    std::vector<std::string> ignore = {};        ///< conditions that may differ within a group
};

/// One row per run. Columns are named by their use: a key by its name, "condition:host.cpu",
/// "measured:step_time_s".
struct RunsFrame {
    Frame frame;
    GroupQuery asked;
    std::vector<std::string> ids;
    std::vector<Cores> cores;  ///< a run each
    /// `places`: the conditions that a row and its baseline should share.
    std::vector<Conditions> factors, places;
    std::vector<std::set<CaveatKind>> marks;  ///< why each run is to be read with care
    std::set<std::string> conditions;         ///< all that some run has
    /// For each stored table the id of the newest valid run with it.
    std::map<std::string, std::string> newest_with;

    /// OptionError for an empty or repeated key.
    explicit RunsFrame(GroupQuery what);
    /// A run read with its summaries (results::Detail).
    void add(const results::Run& run);
    /// To be called after all runs: OptionError where `ignore` has a key that no run has.
    void check_ignored() const {
        if (!frame.empty()) refuse_unknown_ignored(asked.ignore, conditions);
    }

  private:
    void put(Column column, Cell cell) {
        frame.put(frame.add_column(std::move(column)), std::move(cell));
    }
};
RunsFrame runs_frame(const ChosenRuns& runs, GroupQuery asked);

/// Runs with equal keys and conditions.
struct Group {
    std::vector<std::string> key;  ///< in the order of Groups::keys
    /// The rows of runs that count: valid, with a measurement; the newest last.
    std::vector<std::size_t> runs;
    std::size_t invalid = 0, without = 0;
    Cores cores;
    Conditions factors, places;          ///< that all its runs have
    std::vector<std::string> differing;  ///< factors that are not the same in all
    std::vector<Caveat> caveats;
    bool not_summed = false;  ///< no gradients were summed in some

    bool valid() const { return !runs.empty(); }
    /// "" where its runs differ in it.
    std::string factor(const std::string& name) const;
};

/// A group's estimate of a measurement: the median over the runs' medians with its 95 % interval
/// (from 6 runs on); for a single run that run's own.
struct Estimate {
    double value = stats::kNone;
    stats::Interval ci;
    std::size_t runs = 0;  ///< 0: none has it
    std::string unit;
};

class Groups {
  public:
    explicit Groups(RunsFrame runs);

    std::vector<Group> all;         ///< sorted by their keys
    std::vector<std::string> keys;  ///< those asked for, and then `apart`
    /// Conditions in which the groups differ, without being keys.
    std::vector<std::string> apart;
    std::size_t without = 0;  ///< runs with none of the measurements

    const RunsFrame& runs() const { return runs_; }
    /// Where the key stands in `keys` and in each group's; keys.size() where it is not one of them.
    std::size_t place_of(std::string_view key) const;
    /// One value for each run that counts, in their order.
    std::vector<double> values(const Group& group, std::string_view measurement) const;
    Estimate estimate(const Group& group, std::string_view measurement) const;
    bool has(const Group& group, std::string_view measurement) const {
        return !values(group, measurement).empty();
    }
    /// The requested measurements that some group has.
    std::vector<std::string> measurements() const;
    /// "mode = ddp, ranks = 2"; without keys asked for "mnist-cnn, ddp bucketed, 2 ranks".
    std::string name(const Group& group) const;
    /// Distinct names of some groups: the workload and the settings in which they differ, without
    /// `but`.
    std::vector<std::string> titles(const std::vector<const Group*>& some,
                                    const std::set<std::string>& but = {}) const;
    const std::string& newest(const Group& group) const { return runs_.ids[group.runs.back()]; }
    /// The factor's value where all groups have the same.
    std::string common(const std::string& factor) const;

  private:
    void add_groups(const std::vector<std::size_t>& columns);
    void keep_keys(const std::vector<std::size_t>& columns, std::size_t asked);

    RunsFrame runs_;
    std::vector<std::string> names_;  ///< of groups without given keys
};

}  // namespace ranklab::report::model
