#include "experiments/shared/trace_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

void check_trace_file(const std::string& path) {
    if (!path.ends_with(".json") || !fs::is_directory(fs::absolute(path).parent_path()))
        throw base::OptionError(
            fmt::format("--trace {}: give FILE.json in an existing folder", path));
    results::TextFile(path, "trace");
}

}  // namespace ranklab::experiments
