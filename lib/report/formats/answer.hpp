// Private to lib/report/formats: the answers of io and comm, and parts of several answers.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/formats/formats.hpp"

namespace ranklab::report::formats {

/// The number of ranks, at least 1.
inline std::size_t ranks_of(const results::Run& run) {
    return std::max<std::size_t>(1, run.hosts.size());
}
/// "33.2 ms (32.9 .. 33.5), 50 counted"; "" if the run lacks the measurement.
std::string counted_time(const results::Run& run, std::string_view measurement);
/// Sums the percents of equal names: "89 % computing", the largest first, without sums below
/// `least`.
std::vector<std::string> shares_of(const std::vector<std::pair<std::string, double>>& parts,
                                   double least);

/// What a run used of its job, as seff reports it: wall time, CPU time, which includes waiting in
/// MPI, memory with its share of what was asked, node and GPU time; "" without the table `job_use`.
std::string use_text(const results::Run& run);
/// Mean and maximum of --monitor's samples, and what GPUs or cores waited for; "" without samples.
std::string monitor_text(const results::Run& run);
/// The parts of a mean training step in percent: "computing", "waiting for samples" ...; names may
/// repeat.
inline constexpr const char* kComputing = "computing";
std::vector<std::pair<std::string, double>> parts_of_step(const results::Run& run);

/// For `ranklab comm`: latency, bandwidth and the messages; comm_result: the line of the result.
std::string comm_answer(const results::Run& run);
std::string comm_result(const results::Run& run);
/// For a run of `ranklab io`, of one strategy or with the ladder of several.
std::string io_answer(const results::Run& run);
std::string io_result(const results::Run& run);
/// The line `verified` of a run with a ladder; "" for any other run.
std::string io_verification(const results::Run& run);

}  // namespace ranklab::report::formats
