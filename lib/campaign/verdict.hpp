// What the collected runs say to a campaign's question.
#pragma once

#include <string>
#include <vector>

#include "campaign/jobs.hpp"

namespace ranklab::campaign {

/// "gpu is 12.3 times as fast as cpu ...: worth it, ...", a line; that it cannot be told, or is not known,
/// and why; "" where the campaign asks nothing. The ratio of the medians over jobs of their rates, with its
/// interval from 6 jobs a side on. Each job's own results are read, those of jobs that are done.
std::string verdict_line(const Campaign& campaign, const std::vector<Job>& jobs);

}  // namespace ranklab::campaign
