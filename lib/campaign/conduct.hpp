// What can be done with a campaign. All of it may be killed at any moment and started again: what a job has
// reached stands in its files (standing.hpp), and a job is never begun twice, since its script asks first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/jobs.hpp"
#include "campaign/standing.hpp"
#include "results/archive.hpp"

namespace ranklab::campaign {

/// With the queue that the campaign's launcher has: Slurm's, or an empty one.
Standings standings_now(const Campaign& campaign, const std::vector<Job>& jobs);

/// Says what is going on, a line each time.
using Say = std::function<void(const std::string&)>;

/// Which jobs to begin.
struct Wanted {
    bool failed = false;  ///< those that have failed, are unfinished or lost, once more
    bool pilot = false;   ///< the first repetition of each point alone
};

/// Writes the scripts of all jobs, and hands those that are open to Slurm. A job that Slurm does not take is
/// named, and does not keep the others back; EnvironmentError in the end where there was one, or where
/// Slurm does not answer. Returns how many were handed over.
/// OptionError, of this and those below, where a job that was begun has other settings in the file now.
std::size_t submit(const Campaign& campaign, const std::vector<Job>& jobs, const Wanted& wanted,
                   const Say& say);

/// The same without Slurm: runs the open jobs here, one after the other, and waits for those that another
/// process has begun. A job that fails is named, and does not keep the others back. Returns how many of those
/// that were wanted are not done. Interrupted where a signal or `cancel` stops it: it tells the running job
/// to stop, and waits until that has stored what it has.
std::size_t run(const Campaign& campaign, const std::vector<Job>& jobs, const Wanted& wanted, const Say& say);

/// Takes the campaign's jobs out of Slurm's queue; of mpirun: stops the job that runs on this host, and the
/// `run` that would begin the next. Returns how many jobs.
std::size_t cancel(const Campaign& campaign, const std::vector<Job>& jobs);

/// The runs of all jobs that are done go into the campaign's one results file, once however often this is
/// called.
std::vector<results::Merged> collect(const Campaign& campaign, const std::vector<Job>& jobs);

}  // namespace ranklab::campaign
