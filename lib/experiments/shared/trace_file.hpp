// The file of --trace.
#pragma once

#include <string>

namespace ranklab::experiments {

/// Throws OptionError unless `path` is a FILE.json in an existing folder that results::TextFile may
/// replace, EnvironmentError if it cannot be written.
void check_trace_file(const std::string& path);

}  // namespace ranklab::experiments
