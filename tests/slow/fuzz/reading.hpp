// What reads a results file: the programs report, compare and results, as their mains do.
#pragma once

#include "fuzz/format.hpp"

namespace ranklab::fuzz {

/// `results check`; whether it found the file sound.
bool check_results(const std::string& file, Judge& judge);
/// One of the report's formats, chosen by chance. A sound file must be reported on.
void report_results(const std::string& file, bool sound, Random& random, Judge& judge);
/// One of merge, export, list, compare, prune, an append. A sound file must stay one.
void handle_results(const std::string& file, bool sound, Random& random, Judge& judge);

}  // namespace ranklab::fuzz
