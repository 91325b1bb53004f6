// --json-file: the runs as --json prints them, in a file.
#pragma once

#include <vector>

#include "results/run.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {

/// Before the work, on rank 0: OptionError or EnvironmentError where the named file cannot be written, or
/// holds something else than JSON. Nothing where none is named.
void check_json_file(const vocabulary::CommonSettings& common);
/// On rank 0, when the runs are stored. EnvironmentError where it cannot be written after all.
void write_json_file(const vocabulary::CommonSettings& common, const std::vector<results::Run>& runs);

}  // namespace ranklab::app
