// The ranks of a job that make a run of it. The others sleep until it is made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/placement.hpp"

namespace ranklab::app {

// What the launch says, the same for every run of these ranks.
struct Launch {
    std::vector<host::Placement> placements;  ///< of the crew, by its own ranks
    std::vector<std::string> warnings;
};

class Crew {
  public:
    /// All ranks of the job.
    Crew(Session& session, Launch launch);
    /// Collective over the job. `ranks`: of the job, in their order, rank 0 among them; `launch` is theirs.
    Crew(Session& session, Launch launch, const std::vector<int>& ranks);

    const Launch& launch() const { return launch_; }
    /// The same ranks, of which it is not said how many threads they have: of several runs, each its own.
    Crew without_threads() const;
    /// Whether this rank is one of them.
    bool is_aboard() const { return control_ != nullptr; }
    /// Of its ranks; on one of them alone.
    comm::Communicator& control() const { return *control_; }
    int size() const { return static_cast<int>(launch_.placements.size()); }
    bool is_whole() const { return own_ == nullptr; }

    /// Collective over the job: `work` on the crew, while the others sleep. All hear of a failure.
    void make(const std::function<void()>& work) const;
    /// The crew's work under way as all ranks of the job see it, who call it alike. `begin` is called on the
    /// crew alone.
    std::unique_ptr<experiments::Work> begin(
        const std::function<std::unique_ptr<experiments::Work>()>& begin) const;

  private:
    class Watch;

    Session& session_;
    Launch launch_;
    std::shared_ptr<comm::Communicator> own_;  // nullptr: the job's
    comm::Communicator* control_;
};

/// Which `count` of the job's ranks make a crew: all of one host before any of the next, or one of each host
/// in turn. A larger crew has all ranks of a smaller one. Rank 0 is in each. In ascending order.
std::vector<int> crew_ranks(const std::vector<host::Placement>& placements, int count, bool spread);

/// Their placements, as if there were no others.
std::vector<host::Placement> placements_of(const std::vector<host::Placement>& placements,
                                           const std::vector<int>& ranks);

}  // namespace ranklab::app
