#include "host/free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "host/cgroups.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number_in_file(const fs::path& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return base::number_in<std::int64_t>(word);
}

// The number behind a word: "MemAvailable:    123 kB", "inactive_file 123".
std::optional<std::int64_t> number_behind(const fs::path& file, const std::string& word) {
    std::ifstream in(file);
    for (std::string line; in >> line;)
        if (line == word) {
            in >> line;
            return base::number_in<std::int64_t>(line);
        }
    return std::nullopt;
}

// Cached files are given back before a limit kills. "max" is no number.
std::optional<std::int64_t> left_in(const fs::path& cgroup, bool version2) {
    const auto limit = number_in_file(cgroup / (version2 ? "memory.max" : "memory.limit_in_bytes"));
    const auto used = number_in_file(cgroup / (version2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!limit || !used) return std::nullopt;
    const auto cached =
        number_behind(cgroup / "memory.stat", version2 ? "inactive_file" : "total_inactive_file");
    return std::max<std::int64_t>(0, *limit - *used + cached.value_or(0));
}

}  // namespace

std::optional<std::int64_t> free_memory(const fs::path& root) {
    auto free = number_behind(root / "proc/meminfo", "MemAvailable:");
    if (!free) return std::nullopt;
    *free *= 1024;
    const auto own = own_cgroups("memory", root);
    for (const auto& cgroup : own.folders)
        if (const auto left = left_in(cgroup, own.version2)) *free = std::min(*free, *left);
    return free;
}

}  // namespace ranklab::host
