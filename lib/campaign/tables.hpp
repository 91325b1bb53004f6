// What a campaign prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/jobs.hpp"
#include "campaign/standing.hpp"

namespace ranklab::campaign {

/// The points with their jobs, nodes, time and disk. A point's time is that of its jobs that are done; where
/// none is, the limit stands there, and the sums say "at most".
std::string plan_text(const Campaign& campaign, const std::vector<Job>& jobs,
                      const std::vector<Standing>& standings);

/// How many jobs are done, run, wait, have failed; each that has failed, is lost or stuck with its sentence;
/// how much job time is left, from what the jobs that are done took.
std::string status_text(const Campaign& campaign, const std::vector<Job>& jobs, const Standings& standings);

/// The same, and what the plan says, for other programs: an object with each job.
std::string status_json(const Campaign& campaign, const std::vector<Job>& jobs, const Standings& standings);

/// The commands that show what was collected: a table for each ladder of ranks, and the page.
std::string report_commands(const Campaign& campaign);

}  // namespace ranklab::campaign
