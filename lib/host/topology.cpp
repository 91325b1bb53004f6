#include "host/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::host {
namespace {

struct Free {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
    void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<hwloc_topology, Free>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;

hwloc_topology_t topology() {
    static const Topology loaded = [] {
        hwloc_topology_t made = nullptr;
        if (hwloc_topology_init(&made) != 0)
            throw base::EnvironmentError("hwloc does not start; check the installation of hwloc");
        Topology whole(made);
        if (hwloc_topology_load(made) != 0)
            throw base::EnvironmentError(
                "hwloc cannot read this machine's topology; check that lstopo can");
        return whole;
    }();
    return loaded.get();
}

std::vector<int> numbers_in(hwloc_const_bitmap_t set) {
    std::vector<int> numbers;
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
        numbers.push_back(i);
    return numbers;
}

hwloc_obj_t unit_of(int cpu) {
    return hwloc_get_pu_obj_by_os_index(topology(), static_cast<unsigned>(cpu));
}

// Uses complete_cpuset, which has the CPUs outside this rank's cpuset, too: ranks agree on names.
int core_of(int cpu) {
    const hwloc_obj_t unit = unit_of(cpu);
    const hwloc_obj_t core = unit == nullptr
                                 ? nullptr
                                 : hwloc_get_ancestor_obj_by_type(topology(), HWLOC_OBJ_CORE, unit);
    return core == nullptr ? cpu : hwloc_bitmap_first(core->complete_cpuset);
}

namespace fs = std::filesystem;

struct OwnCgroups {
    bool version2 = false;
    std::vector<fs::path> folders = {};  // outermost first; empty: not visible
};

// The mount point `top`, then the folders of `path` below it, as far as they exist. A container
// without a cgroup namespace shows the host's path, but its own cgroup is the mount point.
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

// Lines of /proc/self/cgroup are "0::/path" in version 2, "1:cpu,cpuacct:/path" in version 1
// (cgroups(7)). A controller belongs to one version only: to version 1 if a line names it.
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

// The limit in CPUs from cpu.max, "200000 100000" (quota and period in us). "max", or -1 in version
// 1, mean unlimited.
std::optional<double> limit_of(const fs::path& cgroup, bool version2) {
    auto words = words_in(cgroup / (version2 ? "cpu.max" : "cpu.cfs_quota_us"));
    if (!version2)
        std::ranges::copy(words_in(cgroup / "cpu.cfs_period_us"), std::back_inserter(words));
    if (words.size() != 2) return std::nullopt;
    const auto quota = base::number_in<double>(words[0]),
               period = base::number_in<double>(words[1]);
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return *quota / *period;
}

// Names a cgroup by device and inode, since its path differs between containers.
std::string name_of(const fs::path& cgroup) {
    struct stat seen {};
    return stat(cgroup.c_str(), &seen) == 0 ? fmt::format("{}:{}", seen.st_dev, seen.st_ino)
                                            : cgroup.string();
}

// Bytes until the cgroup's memory limit. Counts inactive file cache as free, since Linux reclaims
// it first.
std::optional<std::int64_t> left_in(const fs::path& cgroup, bool version2) {
    const auto limit = number_in_file(cgroup / (version2 ? "memory.max" : "memory.limit_in_bytes"));
    const auto used =
        number_in_file(cgroup / (version2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!limit || !used) return std::nullopt;
    const auto cached =
        number_behind(cgroup / "memory.stat", version2 ? "inactive_file" : "total_inactive_file");
    return std::max<std::int64_t>(0, *limit - *used + cached.value_or(0));
}

}  // namespace

std::vector<int> cpuset() {
    const Bitmap set(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology(), set.get(), HWLOC_CPUBIND_THREAD) != 0)
        return numbers_in(hwloc_topology_get_allowed_cpuset(topology()));
    return numbers_in(set.get());
}

std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus) {
    std::vector<std::vector<int>> cores;
    std::map<int, std::size_t> places;
    for (const int cpu : cpus) {
        const auto [place, is_new] = places.try_emplace(core_of(cpu), cores.size());
        if (is_new) cores.emplace_back();
        cores[place->second].push_back(cpu);
    }
    return cores;
}

std::vector<int> core_names(const std::vector<int>& cpus) {
    std::set<int> names;
    for (const int cpu : cpus) names.insert(core_of(cpu));
    return {names.begin(), names.end()};
}

int cores_in(const std::vector<int>& cpus) {
    return static_cast<int>(core_names(cpus).size());
}

std::vector<int> numa_nodes_of(const std::vector<int>& cpus) {
    const Bitmap nodes(hwloc_bitmap_alloc());
    for (const int cpu : cpus)
        if (const hwloc_obj_t unit = unit_of(cpu))
            hwloc_bitmap_or(nodes.get(), nodes.get(), unit->nodeset);
    return numbers_in(nodes.get());
}

// Converts the CUDA runtime's spelling (capitals, a domain of 4 or 8 digits) to that of /sys.
std::vector<int> cpus_near(std::string pci_id) {
    std::ranges::transform(pci_id, pci_id.begin(), [](unsigned char c) { return std::tolower(c); });
    if (pci_id.find(':') == 8 && pci_id.starts_with("0000")) pci_id.erase(0, 4);
    const auto file = system_root() / "sys/bus/pci/devices" / pci_id / "local_cpus";
    const Bitmap near(hwloc_bitmap_alloc());
    if (pci_id.empty() || hwloc_linux_read_path_as_cpumask(file.c_str(), near.get()) != 0)
        return {};
    return numbers_in(near.get());
}

std::optional<std::int64_t> number_behind(const fs::path& file, std::string_view word) {
    const auto words = words_in(file);
    const auto found = std::ranges::find(words, word);
    if (found == words.end() || found + 1 == words.end()) return std::nullopt;
    return base::number_in<std::int64_t>(*(found + 1));
}

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

Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus) {
    Placement p{.rank = rank,
                .local_rank = local_rank,
                .host = host_name(),
                .cpus = cpuset(),
                .build = build,
                .gpus = gpus,
                .cpu = cpu_model(),
                .quota = cpu_quota()};
    p.cores = core_names(p.cpus);
    p.numa = numa_nodes_of(p.cpus);
    p.governor = governor_of(p.cpus);
    p.threads = threads > 0 ? threads : std::max(1, static_cast<int>(p.cores.size()));
    p.threads_by_default = threads <= 0;
    if (struct statvfs shared{}; ::statvfs("/dev/shm", &shared) == 0)
        p.shared_memory_bytes =
            static_cast<double>(shared.f_blocks) * static_cast<double>(shared.f_frsize);
    return p;
}

void settle_threads(std::vector<Placement>& placements) {
    std::map<std::pair<std::string, std::string>, int> sharers;
    for (const auto& p : placements)
        for (const auto& limit : p.quota.limits) ++sharers[{p.host, limit.cgroup}];
    for (auto& p : placements) {
        if (!p.threads_by_default) continue;
        for (const auto& limit : p.quota.limits) {
            const int part = static_cast<int>(limit.cpus / sharers.at({p.host, limit.cgroup}));
            p.threads = std::max(1, std::min(p.threads, part));
        }
    }
}

std::string quota_text(const std::vector<Placement>& placements) {
    const auto is_known = [](const Placement& p) { return p.quota.known; };
    if (placements.empty() || !std::ranges::all_of(placements, is_known)) return "unknown";
    double least = std::numeric_limits<double>::infinity();
    for (const auto& p : placements) least = std::min(least, least_limit(p.quota).value_or(least));
    return std::isfinite(least) ? fmt::format("{:g}", least) : "none";
}

std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus) {
    const bool one_model = std::ranges::all_of(
        placements, [&](const Placement& p) { return p.cpu == placements.front().cpu; });
    std::vector<std::string> devices;
    for (const auto& p : placements) {
        if (on_gpus && !p.own_gpu.name.empty())
            devices.push_back(fmt::format("{} [{}]", p.own_gpu.name, p.own_gpu.uuid));
        else
            devices.push_back(one_model ? "cpu" : fmt::format("cpu ({})", p.cpu));
    }
    return devices;
}

}  // namespace ranklab::host
