// One table of runs, a row per run, and the table of its groups, a row per set of repetitions.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/conditions.hpp"

namespace ranklab::report::model {

struct GroupQuery {
    /// Keys as in value_of. Empty: the keys of group_key_of, so that a group is a set of
    /// repetitions.
    std::vector<std::string> keys = {};
    std::vector<std::string> measurements = {};  ///< empty: the headline ones
    std::vector<std::string> ignore = {};        ///< conditions that may differ within a group
    /// Keeps a label apart if it has several groups, as a section of a campaign does.
    bool labels_apart = false;
};

/// Adds a row for a run that was read with its summaries (results::Detail): its keys, conditions,
/// factors, places, measurements and caveats.
void add_run(Frame& runs, const GroupQuery& query, const results::Run& run);

/// The caveats of a group with this single run, which has measurements.
std::vector<Caveat> caveats_of(const results::Run& run);

/// Whether a column of the table of runs describes machine or software: a condition that keeps
/// runs apart, or another fact on which times depend.
bool is_surroundings(const Column& column);

class Groups {
  public:
    /// Throws OptionError if a key is empty or repeated, or a word to ignore names no condition.
    Groups(Frame runs, GroupQuery query);
    Groups(const ChosenRuns& runs, const GroupQuery& query);

    const Frame& runs() const { return runs_; }
    /// A row per group, sorted by keys: key columns (the asked keys, then `apart`), "group" (its
    /// name), "title" (without its ranks), "runs", "invalid", "nodes", "cores", the factors and
    /// places that its runs share, and the asked measurements. A row's members are the rows of
    /// runs() that count: valid, with a measurement, the newest last.
    const Frame& table() const { return table_; }
    std::size_t size() const { return table_.rows.size(); }
    std::vector<std::size_t> all() const;  ///< 0 .. size() - 1
    /// The groups of each command. Without a key "command", a table of all groups has that key if
    /// the commands differ.
    std::vector<Groups> by_command() const;

    /// Conditions in which groups differ, and which are not among the asked keys.
    const std::vector<std::string>& apart() const { return apart_; }
    std::size_t without() const { return without_; }  ///< runs with none of the measurements
    std::vector<std::string> keys() const;
    bool has_key(std::string_view key) const;
    /// The asked measurements that a group has.
    std::vector<std::string> measurements() const;
    /// The time of epochs or trainings to compare, if no time of steps or jobs is asked; "": none.
    const std::string& asked_time() const { return asked_time_; }

    const Places& members(std::size_t group) const { return table_.rows[group].members; }
    bool valid(std::size_t group) const { return !members(group).empty(); }
    const std::string& key(std::size_t group, std::string_view name) const;
    /// "" if the group's runs differ in the factor.
    const std::string& factor(std::size_t group, std::string_view name) const;
    const std::string& command(std::size_t group) const { return factor(group, "command"); }
    const std::string& name(std::size_t group) const { return table_.at(group, "group").text; }
    const std::string& newest(std::size_t group) const;  ///< the id of its newest run
    Cores cores(std::size_t group) const;
    OtherLoad load(std::size_t group) const;
    /// Whether all runs of the group have "yes" in a column of runs() that describes a catalogue
    /// entry: "single_device", "uses_sync", "baseline_sync", "baseline_strategy", "has_workers".
    bool says(std::size_t group, std::string_view column) const;
    /// Factors that differ among the group's runs.
    std::vector<std::string> varying(std::size_t group) const;
    /// Factors that differ between the two groups, or within one of them.
    std::vector<std::string> differing(std::size_t a, std::size_t b) const;

    /// A value per run that counts, in the order of the runs.
    std::vector<double> values(std::size_t group, std::string_view measurement) const;
    /// The median over the runs' medians with its 95 % interval (from 6 runs on); for a single run
    /// its own median and interval. Empty if no run has the measurement.
    Cell estimate(std::size_t group, std::string_view measurement) const;
    std::string unit(std::string_view measurement) const;
    bool has(std::size_t group, std::string_view measurement) const {
        return !values(group, measurement).empty();
    }
    /// Distinct names of some groups: the workload and the settings in which the groups differ,
    /// except the settings in `but`.
    std::vector<std::string> titles(const std::vector<std::size_t>& some,
                                    const std::set<std::string>& but = {}) const;
    /// The factor's value if it is equal in all valid groups; "" otherwise.
    std::string common(std::string_view factor) const;

  private:
    void keep_labels_apart();
    void check_query();
    void add_groups();
    void add_shared(Role role);
    void add_measured();
    void add_names();
    std::vector<Caveat> caveats_of(std::size_t group) const;

    Frame runs_, table_;
    GroupQuery query_;
    std::vector<std::string> apart_;
    std::string asked_time_;
    std::size_t without_ = 0;
};

/// "(varies)": a shared column's cell if the runs of the group have several values.
inline constexpr std::string_view kVaries = "(varies)";

}  // namespace ranklab::report::model
