// --json-file: the run as --json prints it, in a file.
#pragma once

#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// Before the work, on rank 0: OptionError or EnvironmentError where the named file cannot be written, or
/// holds something else than JSON. Nothing where none is named.
void check_json_file(const options::Options& options);
/// On rank 0, when the run is stored. EnvironmentError where it cannot be written after all.
void write_json_file(const options::Options& options, const results::Run& run);

}  // namespace ranklab::app
