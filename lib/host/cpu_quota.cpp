#include "host/cpu_quota.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/numbers.hpp"
#include "host/cgroups.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_in(const fs::path& file) {
    std::ifstream in(file);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

// "200000 100000" in cpu.max, where "max" and in version 1 -1 are no limit.
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
    struct stat of {};
    return stat(cgroup.c_str(), &of) == 0 ? fmt::format("{}:{}", of.st_dev, of.st_ino) : cgroup.string();
}

}  // namespace

CpuQuota cpu_quota(const fs::path& root) {
    const auto own = own_cgroups("cpu", root);
    if (own.folders.empty()) return {};
    CpuQuota quota{.known = true, .limits = {}};
    for (const auto& cgroup : own.folders)
        if (const auto cpus = limit_of(cgroup, own.version2))
            quota.limits.push_back({*cpus, name_of(cgroup)});
    return quota;
}

}  // namespace ranklab::host
