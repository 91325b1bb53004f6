// Runs as one Frame: what they are grouped by, kept apart by, measured and doubted for are its columns.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/conditions.hpp"
#include "report/model/cores.hpp"

namespace ranklab::report::model {

/// The names of its columns: of some the beginning, of doubts the end.
namespace runs_columns {
inline constexpr std::string_view kCondition = "condition:", kMeasured = "measured:";
inline constexpr std::string_view kValid = "valid", kLoad = "other load", kConverged = "not converged",
                                  kExit = "exit 7", kCut = "cut short", kSummed = "not summed",
                                  kVerified = "verified";
inline std::string doubt_column(std::string_view doubt) {
    return "doubt:" + std::string(doubt);
}
}  // namespace runs_columns

struct Asked {
    /// To group by, as of value_of. Empty: by all that makes runs other than repetitions.
    std::vector<std::string> keys = {};
    std::vector<std::string> measurements = {};  ///< empty: the headline ones
    std::vector<std::string> allow = {};         ///< conditions that may differ within a group
};

/// A row a run. Its columns are named by what they are for: a key by its name, "condition:host.cpu",
/// "factor:batch-size", "measured:step_time_s".
struct RunsFrame {
    Frame frame;
    Asked asked;
    std::vector<std::string> ids;
    std::vector<Cores> cores;                 ///< a run each
    std::vector<Conditions> factors, places;  ///< places: what a row and its baseline should have in common
    std::set<std::string> conditions;         ///< all that some run has

    /// OptionError for an empty or repeated key.
    explicit RunsFrame(Asked what);
    /// A run read with its summaries (results::Detail).
    void add(const results::Run& run);
    /// After all runs: OptionError where `allow` has something that no run has.
    void check_allowed() const;

  private:
    std::size_t column(Column wanted);

    std::map<std::string, std::size_t> places_of_columns_;
};
RunsFrame runs_frame(const ChosenRuns& runs, Asked asked);

/// What a command is first asked for: its rate, and the time that its speedups are made of.
std::vector<std::string> headline_measurements();

}  // namespace ranklab::report::model
