// One run of a program's job, from its beginning until it is delivered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/crew.hpp"
#include "app/delivery.hpp"
#include "app/session.hpp"
#include "app/showing.hpp"
#include "app/start_up_parts.hpp"
#include "app/terminal.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/load.hpp"

namespace ranklab::app {

struct Job {
    Session& session;
    experiments::Experiment& experiment;
    options::Options options;
    std::string command_line;
    std::shared_ptr<experiments::Plan> plan = nullptr;  ///< once the options are settled
    std::shared_ptr<const Crew> crew = nullptr;         ///< who makes it
    std::string point = {};  ///< of a ladder: "ranks 2, ", in front of the run's line

    const Launch& launch() const { return crew->launch(); }
};

std::int64_t unix_now();

class RunUnderWay {
  public:
    using Clock = std::chrono::steady_clock;

    RunUnderWay(Job job, std::int64_t started, Clock::time_point start)
        : RunUnderWay(job, started, start, {.patience_s = job.options.real("lock-timeout")}) {}
    RunUnderWay(Job job, std::int64_t started, Clock::time_point start, results::LockWait wait);

    /// What the experiment is given: it outlives the work. Collective over the crew: the run begins.
    /// `first` of the process: its start-up is a part of it.
    experiments::Surroundings surroundings(base::ProgressSink& progress, bool first);

    /// Secures what is measured so far, on rank 0.
    void keep(results::Run so_far);
    /// Secures a run that is finished and has to wait for its turn.
    void keep_whole(results::Run run);

    /// Collective over the crew: its work is over.
    void ended();

    /// Of its time since the start, so much was its own.
    void used(double seconds);

    /// Collective: rank 0 delivers, the others wait for it, for as long as that takes.
    void deliver(results::Run& run, TerminalProgress& progress, const ShowsRun& show);
    /// The same without the other ranks, who may not be there any more: on rank 0.
    void deliver_alone(results::Run& run, const ShowsRun& show);

    /// As of a job that was lost, or that `signal` has stopped: what there is of it is right then.
    static void mark_incomplete(results::Run& run, const std::string& why, int signal = 0);

  private:
    void will_have(std::int64_t rows, const std::string& what) const;
    void complete(results::Run& run) const;
    void add_warnings_of_launch(results::Run& run) const;
    void add_context(results::Run& run) const;

    Job job_;
    std::string id_;
    std::int64_t started_;
    Clock::time_point start_;
    Delivery delivery_;
    std::optional<host::UseMeter> meter_;  // on the crew
    bool tells_start_up_ = false;
    std::vector<host::Use> uses_;             // once its work has ended
    std::vector<StartUpPart> start_up_ = {};  // the same
};

}  // namespace ranklab::app
