#include "host/cgroups.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/text.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

// The hierarchy that rules a resource, and this process' place in it (cgroups(7)).
struct Place {
    bool version2 = false;
    std::string path;
};

bool names(std::string_view list, std::string_view controller) {
    return std::ranges::count(base::split(list, ','), controller) > 0;
}

// "0::/path" of version 2, "1:cpu,cpuacct:/path" of version 1. A controller is in one hierarchy only: where
// version 1 has it, version 2 does not rule it.
std::optional<Place> place_in(const fs::path& file, std::string_view controller) {
    std::ifstream in(file);
    std::optional<Place> place;
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':');
        if (first == std::string::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        if (names(controllers, controller)) return Place{false, line.substr(second + 1)};
        if (controllers.empty()) place = Place{true, line.substr(second + 1)};
    }
    return place;
}

struct Mount {
    fs::path root, point;  // of the hierarchy, and where this process sees it
};

// "36 35 98:0 /root /point options ... - type source options" (proc_pid_mountinfo(5)).
std::optional<Mount> mount_of(bool version2, const fs::path& file, std::string_view controller) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        const auto before = base::split(line.substr(0, dash), ' ');
        const auto after = base::split(line.substr(dash + 3), ' ');
        if (before.size() < 5 || after.size() < 3) continue;
        if (version2 ? after[0] == "cgroup2" : after[0] == "cgroup" && names(after[2], controller))
            return Mount{before[3], before[4]};
    }
    return std::nullopt;
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

OwnCgroups own_cgroups(std::string_view controller, const fs::path& root) {
    const auto place = place_in(root / "proc/self/cgroup", controller);
    const auto mount =
        place ? mount_of(place->version2, root / "proc/self/mountinfo", controller) : std::nullopt;
    if (!mount) return {};
    return {place->version2, cgroups_of(*place, *mount, root)};
}

}  // namespace ranklab::host
