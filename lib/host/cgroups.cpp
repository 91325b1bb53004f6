#include "host/cgroups.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

struct OwnCgroups {
    bool version2 = false;
    std::vector<fs::path> folders = {};  // the outermost first; empty: none is seen from here
};

// The mount point, then the folders of the process' path below it. A container without a cgroup namespace has
// the host's path, and its own cgroup is the mount point.
std::vector<fs::path> folders_below(const fs::path& top, const std::string& path) {
    std::error_code unknown;
    if (!fs::is_directory(top, unknown)) return {};
    std::vector<fs::path> folders{top};
    for (const auto& part : fs::path(path).relative_path()) {
        const auto next = folders.back() / part;
        if (part == ".." || !fs::is_directory(next, unknown)) break;
        folders.push_back(next);
    }
    return folders;
}

// "0::/path" of version 2, "1:cpu,cpuacct:/path" of version 1 (cgroups(7)). A controller is in one hierarchy
// only: where version 1 has it, version 2 does not rule it.
OwnCgroups own_cgroups(const std::string& controller, const fs::path& root) {
    const auto mounts = root / "sys/fs/cgroup";
    OwnCgroups own;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = base::split(line.substr(first + 1, second - first - 1), ',');
        if (std::ranges::count(controllers, controller) > 0)
            return {false, folders_below(mounts / controller, line.substr(second + 1))};
        if (second == first + 1) own = {true, folders_below(mounts, line.substr(second + 1))};
    }
    return own;
}

std::vector<std::string> words_in(const fs::path& file) {
    std::ifstream in(file);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::optional<std::int64_t> number_in_file(const fs::path& file) {
    const auto words = words_in(file);
    return words.empty() ? std::nullopt : base::number_in<std::int64_t>(words.front());
}

// The number behind a word: "MemAvailable: 123 kB", "inactive_file 123".
std::optional<std::int64_t> number_behind(const fs::path& file, std::string_view word) {
    const auto words = words_in(file);
    const auto found = std::ranges::find(words, word);
    if (found == words.end() || found + 1 == words.end()) return std::nullopt;
    return base::number_in<std::int64_t>(*(found + 1));
}

// "200000 100000" in cpu.max; "max", and -1 in version 1, are no limit.
std::optional<double> limit_of(const fs::path& cgroup, bool version2) {
    auto words = words_in(cgroup / (version2 ? "cpu.max" : "cpu.cfs_quota_us"));
    if (!version2) std::ranges::copy(words_in(cgroup / "cpu.cfs_period_us"), std::back_inserter(words));
    if (words.size() != 2) return std::nullopt;
    const auto quota = base::number_in<double>(words[0]), period = base::number_in<double>(words[1]);
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return *quota / *period;
}

// Paths differ between containers, a folder's number does not.
std::string name_of(const fs::path& cgroup) {
    struct stat seen {};
    return stat(cgroup.c_str(), &seen) == 0 ? fmt::format("{}:{}", seen.st_dev, seen.st_ino)
                                            : cgroup.string();
}

// Cached files are given back before a limit kills.
std::optional<std::int64_t> left_in(const fs::path& cgroup, bool version2) {
    const auto limit = number_in_file(cgroup / (version2 ? "memory.max" : "memory.limit_in_bytes"));
    const auto used = number_in_file(cgroup / (version2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!limit || !used) return std::nullopt;
    const auto cached =
        number_behind(cgroup / "memory.stat", version2 ? "inactive_file" : "total_inactive_file");
    return std::max<std::int64_t>(0, *limit - *used + cached.value_or(0));
}

}  // namespace

CpuQuota cpu_quota(const fs::path& root) {
    const auto own = own_cgroups("cpu", root);
    CpuQuota quota{.known = !own.folders.empty(), .limits = {}};
    for (const auto& cgroup : own.folders)
        if (const auto cpus = limit_of(cgroup, own.version2))
            quota.limits.push_back({*cpus, name_of(cgroup)});
    return quota;
}

std::optional<double> least_limit(const CpuQuota& quota) {
    const auto least = std::ranges::min_element(quota.limits, {}, &CpuQuota::Limit::cpus);
    return least == quota.limits.end() ? std::nullopt : std::optional(least->cpus);
}

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
