#include "experiments/shared/trace_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"

namespace ranklab::experiments {

void check_trace_file(const std::string& path) {
    namespace fs = std::filesystem;
    const auto folder = fs::absolute(path).parent_path();
    if (!path.ends_with(".json") || fs::is_directory(path) || !fs::is_directory(folder) ||
        ::access(folder.c_str(), W_OK) != 0)
        throw base::OptionError(
            fmt::format("--trace {}: give a file FILE.json in a folder that can be written", path));
}

}  // namespace ranklab::experiments
