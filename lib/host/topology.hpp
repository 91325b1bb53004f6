// The machine as hwloc sees it; it is loaded once a process, which takes 10 ms.
#pragma once

#include <string>
#include <vector>

namespace ranklab::host {

/// Logical CPUs that the calling thread may run on, ascending.
std::vector<int> cpuset();

/// `cpus` by physical core: the hardware threads of one core stand together. A CPU that hwloc does not know
/// is a core of its own.
std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus);
/// The name of each of these cores, the same in all ranks of a host: its lowest CPU of the machine,
/// ascending.
std::vector<int> core_names(const std::vector<int>& cpus);
/// Hardware threads of one core count once.
int cores_in(const std::vector<int>& cpus);

/// NUMA nodes that `cpus` belong to, ascending.
std::vector<int> numa_nodes_of(const std::vector<int>& cpus);

/// CPUs near the PCI device ("0000:17:00.0"); empty where the system does not say.
std::vector<int> cpus_near(std::string pci_id);

}  // namespace ranklab::host
