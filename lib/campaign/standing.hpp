// How far the jobs of a campaign are. It is read from their files and from the queue alone, so no kill of
// whoever watches can make it untrue.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/jobs.hpp"

namespace ranklab::campaign {

enum class State {
    open,        ///< nobody has begun it
    waiting,     ///< in the queue
    running,     ///< whoever has claimed it is alive
    done,        ///< its results are there: exit code 0, or 7 (they stand, and are less sure than asked for)
    unfinished,  ///< its time was up, or somebody stopped it: exit code 6, or 128 + one of kStopSignals
    failed,      ///< with another exit code
    lost         ///< whoever had claimed it is gone, and has not said how it ended
};

const char* name_of(State state);

struct Standing {
    State state = State::open;
    int exit_code = 0;     ///< of done, unfinished and failed
    double seconds = 0;    ///< from begin to end, 0 where that is not known; of running: so far
    std::string where;     ///< "slurm 17 0": who has or had it; of waiting: "slurm 17"
    std::string number;    ///< in the queue, "" where it is in none
    std::string sentence;  ///< of failed, unfinished and lost: what its log says last; of waiting: why
};

/// A job in a queue.
struct Queued {
    std::string number;
    bool running = false;
    std::string reason;  ///< why it waits: "Priority", "ReqNodeNotAvail"
};
struct Queue {
    std::multimap<std::string, Queued> jobs;   ///< of this campaign, by name: a job may be in it twice
    std::map<std::string, std::string> names;  ///< of all jobs of this user, by their numbers
};
/// Nothing where the queue cannot be asked now.
using AskQueue = std::function<std::optional<Queue>()>;

struct Standings {
    std::vector<Standing> jobs;
    bool queue_answers = true;  ///< otherwise who waits is not known, and a claim by Slurm counts as running
};

/// Who has claimed a job is read before the queue is asked, and how it ended after: who was not in the queue
/// then has no more to say.
Standings standings(const Campaign& campaign, const std::vector<Job>& jobs, const AskQueue& ask);

/// Makes jobs that have failed, are unfinished or lost open again: their claim is removed. What they had
/// stored stays in files of those attempts. Call it with the campaign's lock held.
void reopen(const Campaign& campaign, const std::vector<Job>& jobs, std::vector<Standing>& standings);

/// The process of this host that has claimed the job and is alive; 0: there is none.
int local_process(const Campaign& campaign, const Job& job);

}  // namespace ranklab::campaign
