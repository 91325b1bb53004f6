// Many runs, folded into groups of like ones while they pass by, so that ten thousand
// take little memory.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/notices.hpp"
#include "report/model/run_group.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// Runs of one command with the same settings on as many ranks and nodes, measured in the same surroundings
/// (surroundings.hpp). Seeds, labels, paths, and how long or often was measured do not make a group.
struct Group : RunGroup {
    std::size_t ranks = 1, nodes = 1;
    /// The newest valid run; where none is valid the newest. Summaries, settings and small tables only.
    results::Run newest;
    std::string verified;  ///< of `newest`; "" before GroupedRuns::complete

    /// What tells it from other groups: settings in the order in which runs store them, then surroundings.
    std::vector<std::pair<std::string, std::string>> told_by() const;
    /// That all its runs have; "" where they differ.
    std::string label() const;
    void add_label(const std::string& label);

  private:
    std::set<std::string> labels_;  ///< two at most
};

/// A valid run that compares the rungs of a ladder, the newest of its group, label and directory: of whole
/// ones, and of those that were cut short.
struct StoredLadder {
    std::string id, label, directory, started_utc;
    std::size_t group = 0;       ///< in GroupedRuns::groups()
    std::string cut_short = {};  ///< results::Run::cut_short
};

class GroupedRuns {
  public:
    /// Its tables are not needed yet.
    void add(results::Run&& run);
    /// Once all runs were added: takes tables and verification of the newest runs of the `most` most recent
    /// groups from `read`, which gives a run with its summaries.
    void complete(const std::function<results::Run(const std::string& id)>& read, std::size_t most);

    const std::vector<Group>& groups() const { return groups_.all(); }           ///< in the order met
    const std::vector<StoredLadder>& ladders() const { return ladders_.all(); }  ///< in the order met
    const Notices& warnings() const { return warnings_; }                        ///< of valid runs
    const Notices& invalid_runs() const { return invalid_runs_; }                ///< why they are
    /// Of the groups' newest runs that `complete` read: ids of those that failed a check, and of those that
    /// nothing was compared in.
    const std::vector<std::string>& failed() const { return failed_; }
    const std::vector<std::string>& unverified() const { return unverified_; }
    /// Facts of the surroundings: "section.key" -> value -> runs that have it (at most kMostValues told
    /// apart).
    const std::map<std::string, std::map<std::string, std::size_t>>& facts() const { return facts_; }
    const std::map<std::string, std::size_t>& hosts() const { return hosts_; }  ///< name -> runs on it
    std::size_t runs() const { return runs_; }
    std::size_t invalid() const { return invalid_; }
    const std::string& first_utc() const { return first_utc_; }
    const std::string& last_utc() const { return last_utc_; }

    static constexpr std::size_t kMostValues = 20;

  private:
    Group& group_of(const results::Run& run);
    void note_facts(const results::Run& run);
    void note_ladder(const results::Run& run, std::size_t group);

    InOrderMet<std::string, Group> groups_;
    InOrderMet<std::string, StoredLadder> ladders_;
    Notices warnings_, invalid_runs_;
    std::vector<std::string> failed_, unverified_;
    std::map<std::string, std::map<std::string, std::size_t>> facts_;
    std::map<std::string, std::size_t> hosts_;
    std::size_t runs_ = 0, invalid_ = 0;
    std::string first_utc_, last_utc_;
};

/// The run that holds a ladder's table has no measurements of its own; the ladder shows it.
bool has_numbers(const Group& group);
/// The most recent groups of that command ("" for any) that have numbers, at most `most`, in the order met.
std::vector<const Group*> recent_groups(const GroupedRuns& grouped, const std::string& command,
                                        std::size_t most);

/// Of conditions that groups do not share each with its values, "host.cpu: A | B": what keeps runs apart that
/// would otherwise be pooled. Those that follow from the ranks only where groups of as many ranks differ.
std::vector<std::string> kept_apart(const GroupedRuns& grouped);

/// What a title names, where it is not the same in all: each rank's batch, "32/rank", or that of all ranks
/// together, "64 global"; or always of which records a rung is and what it is drawn over, "over ranks, 15 ×
/// 100²"; or every setting that is not the same in all.
enum class Named { batch_of_rank, batch_of_all, records, settings };

/// Of the groups of one command: what names each beside the others, "mnist-cnn, ddp bucketed, 32/rank". Their
/// labels where these differ; then the model or rung, and no more settings than tell those apart that would
/// have one name. Ranks are not in it; what follows from them by default is only where two groups of as many
/// ranks would have one name.
std::vector<std::string> group_titles(const std::vector<const Group*>& groups,
                                      Named named = Named::batch_of_rank);
/// The same for others that stand for them: `labels` in place of the groups' own, one each.
std::vector<std::string> group_titles(const std::vector<const Group*>& groups,
                                      const std::vector<std::string>& labels, Named named);

}  // namespace ranklab::report::model
