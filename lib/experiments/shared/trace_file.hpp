// The file of --trace.
#pragma once

#include <string>

namespace ranklab::experiments {

/// Throws OptionError unless `path` names a file FILE.json in a folder that can be written.
void check_trace_file(const std::string& path);

}  // namespace ranklab::experiments
