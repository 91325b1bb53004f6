#include "host/topology.hpp"

#include <hwloc.h>
#include <hwloc/linux.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "host/facts.hpp"

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
        if (hwloc_topology_init(&made) != 0) throw base::EnvironmentError("hwloc could not be started");
        Topology whole(made);
        if (hwloc_topology_load(made) != 0)
            throw base::EnvironmentError("hwloc could not read this machine's topology");
        return whole;
    }();
    return loaded.get();
}

std::vector<int> numbers_in(hwloc_const_bitmap_t set) {
    std::vector<int> numbers;
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) numbers.push_back(i);
    return numbers;
}

hwloc_obj_t unit_of(int cpu) {
    return hwloc_get_pu_obj_by_os_index(topology(), static_cast<unsigned>(cpu));
}

// complete_cpuset has the CPUs that another rank may use and this one may not.
int core_of(int cpu) {
    const hwloc_obj_t unit = unit_of(cpu);
    const hwloc_obj_t core =
        unit == nullptr ? nullptr : hwloc_get_ancestor_obj_by_type(topology(), HWLOC_OBJ_CORE, unit);
    return core == nullptr ? cpu : hwloc_bitmap_first(core->complete_cpuset);
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
        if (const hwloc_obj_t unit = unit_of(cpu)) hwloc_bitmap_or(nodes.get(), nodes.get(), unit->nodeset);
    return numbers_in(nodes.get());
}

// The CUDA runtime writes the id in capitals, and its domain in four digits or in eight.
std::vector<int> cpus_near(std::string pci_id) {
    std::ranges::transform(pci_id, pci_id.begin(), [](unsigned char c) { return std::tolower(c); });
    if (pci_id.find(':') == 8 && pci_id.starts_with("0000")) pci_id.erase(0, 4);
    const auto file = system_root() / "sys/bus/pci/devices" / pci_id / "local_cpus";
    const Bitmap near(hwloc_bitmap_alloc());
    if (pci_id.empty() || hwloc_linux_read_path_as_cpumask(file.c_str(), near.get()) != 0) return {};
    return numbers_in(near.get());
}

}  // namespace ranklab::host
