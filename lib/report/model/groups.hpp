// Runs, grouped by the values of some keys. The unit is the run: one number a run.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/model/run_group.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// Runs with equal values of the keys. Those that count have one of the measurements.
struct KeyedGroup : RunGroup {
    std::vector<std::string> key;   ///< in the order of RunGroups::keys()
    std::size_t without = 0;        ///< left out: valid, with none of the measurements
    std::size_t not_converged = 0;  ///< of those that count
    std::size_t doubtful = 0;       ///< of those that count: exit code 7 for another reason (cache-tainted)
    std::size_t cut_short = 0;      ///< of those that count: Run::cut_short says why
    std::size_t unsummed = 0;       ///< of those that count: sums_no_gradients
    std::map<std::string, std::vector<double>, std::less<>>
        shares;             ///< by a phase's measurement: percent of the mean step, of each that stored it
    MetConditions factors;  ///< factors_of those that count
    MetConditions places;   ///< hosts, threads of a rank and machine of those that count
};

/// Runs of different surroundings (surroundings.hpp) are never in one group, whatever the keys, but for what
/// follows from the ranks and what is allowed to differ.
class RunGroups {
  public:
    /// `measurements`: those to keep; empty: the headline ones (headline_measurements). `allow`: surroundings
    /// that may differ within a group. OptionError for an empty or repeated key.
    RunGroups(std::vector<std::string> keys, std::vector<std::string> measurements,
              std::vector<std::string> allow = {});

    /// A run read with its summaries (results::Detail).
    void add(const results::Run& run);
    /// After all runs: OptionError where `allow` has something that is no surrounding of any of them.
    void check_allowed() const;

    /// Those asked for, and after them the surroundings in which the groups differ (apart()).
    std::vector<std::string> keys() const;
    /// Surroundings that are not the same in all groups: nobody asked for them, but they are not pooled.
    std::vector<std::string> apart() const;
    /// By the values of the keys: numbers in their order, before texts. Runs that have none of the
    /// measurements are left out and counted in without_values(); so are groups of nothing else.
    std::vector<KeyedGroup> sorted() const;
    std::size_t without_values() const;
    /// Those that some group has, in the order asked for.
    std::vector<std::string> measurements() const;
    const MetConditions& factors() const { return factors_; }
    std::size_t runs() const { return runs_; }

  private:
    Conditions kept_apart(const results::Run& run);

    std::vector<std::string> keys_;
    std::vector<std::string> measurements_;
    std::vector<std::string> allow_;
    std::set<std::string> surroundings_;  ///< that some run has
    std::map<std::pair<std::vector<std::string>, Conditions>, KeyedGroup> groups_;
    MetConditions factors_;
    std::size_t runs_ = 0;
};

/// What a command is first asked for: its rate, and the time that its speedups are made of.
std::vector<std::string> headline_measurements();
/// The times that speedups are made of, the first that a run has.
const std::vector<std::string>& scaling_times();

}  // namespace ranklab::report::model
