// The log: one line a message on stderr, tagged with the rank and host once they are known.
// stdout is left to the report.
#pragma once

#include <string>
#include <string_view>

namespace ranklab::base::log {

/// From here on each line is tagged "rank 3 on node07". Until then it bears the program's name alone.
void set_rank(int rank, std::string_view host);
/// "rank 3 on node07", or "" before set_rank.
std::string where();

void info(std::string_view message);
void warn(std::string_view message);
void error(std::string_view message);

}  // namespace ranklab::base::log
