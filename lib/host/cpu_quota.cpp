#include "host/cpu_quota.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

// The hierarchy that rules CPU time, and this process' place in it (cgroups(7)).
struct Place {
    bool version2 = false;
    std::string path;
};

bool names_cpu(std::string_view list) {
    return std::ranges::count(base::split(list, ','), "cpu") > 0;
}

// "0::/path" of version 2, "1:cpu,cpuacct:/path" of version 1. A controller is in one hierarchy only: where
// version 1 has it, version 2 rules no CPU time.
std::optional<Place> place_in(const fs::path& file) {
    std::ifstream in(file);
    std::optional<Place> place;
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':');
        if (first == std::string::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        if (names_cpu(controllers)) return Place{false, line.substr(second + 1)};
        if (controllers.empty()) place = Place{true, line.substr(second + 1)};
    }
    return place;
}

struct Mount {
    fs::path root, point;  // of the hierarchy, and where this process sees it
};

// "36 35 98:0 /root /point options ... - type source options" (proc_pid_mountinfo(5)).
std::optional<Mount> mount_of(bool version2, const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        const auto before = base::split(line.substr(0, dash), ' ');
        const auto after = base::split(line.substr(dash + 3), ' ');
        if (before.size() < 5 || after.size() < 3) continue;
        if (version2 ? after[0] == "cgroup2" : after[0] == "cgroup" && names_cpu(after[2]))
            return Mount{before[3], before[4]};
    }
    return std::nullopt;
}

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

// From the process' own cgroup up to where its hierarchy is mounted. A container without a cgroup namespace
// has the host's path, and sees its own cgroup at the mount point.
std::vector<fs::path> cgroups_of(const Place& place, const Mount& mount, const fs::path& root) {
    const fs::path top = root / mount.point.relative_path();
    const auto below = fs::path(place.path).lexically_relative(mount.root);
    std::vector<fs::path> cgroups{top};
    if (below.empty() || below == "." || *below.begin() == "..") return cgroups;
    fs::path folder = top;
    for (const auto& part : below)
        if (!part.empty()) cgroups.push_back(folder /= part);
    return cgroups;
}

}  // namespace

CpuQuota cpu_quota(const fs::path& root) {
    const auto place = place_in(root / "proc/self/cgroup");
    const auto mount = place ? mount_of(place->version2, root / "proc/self/mountinfo") : std::nullopt;
    if (!mount) return {};
    CpuQuota quota{.known = true, .limits = {}};
    for (const auto& cgroup : cgroups_of(*place, *mount, root))
        if (const auto cpus = limit_of(cgroup, place->version2))
            quota.limits.push_back({*cpus, name_of(cgroup)});
    return quota;
}

}  // namespace ranklab::host
