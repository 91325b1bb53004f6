// Private to this room: the answers of io and comm, and what several answers have.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/formats/formats.hpp"

namespace ranklab::report::formats {

/// At least 1.
inline std::size_t ranks_of(const results::Run& run) {
    return std::max<std::size_t>(1, run.hosts.size());
}
/// "33.2 ms (32.9 .. 33.5), 50 counted"; "" where the run has no such time.
std::string counted_time(const results::Run& run, std::string_view measurement);
/// Shares such as "89 % computing": the sum of each name's percents, the largest first, without
/// those below `least`.
std::vector<std::string> shares_of(const std::vector<std::pair<std::string, double>>& parts,
                                   double least);

/// For `ranklab comm`: a latency and a bandwidth line and the messages; the line of the result.
std::string comm_answer(const results::Run& run);
std::string comm_result(const results::Run& run);
/// For one strategy of `ranklab io`, and for a ladder of several.
std::string io_answer(const results::Run& run);
std::string io_result(const results::Run& run);
/// For a run that compares strategies; "" for any other.
std::string io_verification(const results::Run& run);

}  // namespace ranklab::report::formats
