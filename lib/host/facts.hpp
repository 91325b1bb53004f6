// What this node is: read once, stored with every run.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ranklab::host {

std::string host_name();

/// "unknown" where the system does not say.
std::string cpu_model();

/// What no other process has: host, process id and start time.
std::string process_instance();

/// Logical CPUs this process may run on, ascending (sched_getaffinity).
std::vector<int> cpuset();

/// `cpus` by physical core: the hardware threads of one core stand together (sysfs topology; where that is
/// not there, every CPU is a core).
std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus, const std::filesystem::path& root = "/");

/// What each of them is called beside those of other ranks: its lowest CPU of the machine, ascending.
std::vector<int> core_names(const std::vector<int>& cpus);

/// Physical cores among `cpus`: hardware threads of one core count once.
int cores_in(const std::vector<int>& cpus);

/// "libmpi.so.40 3f9a1c0d": the shared libraries among those whose differing between ranks would show in
/// numbers that this process has loaded, by name, with the beginning of the id that their linker gave
/// them.
std::vector<std::string> loaded_libraries();

/// CPUs near the PCI device; none where the system does not say.
std::vector<int> cpus_near(std::string pci_id, const std::filesystem::path& root = "/");

/// ("kernel", "6.1.0"), ("cpu", "..."), ("governor", "..."), ("load_1min", "0.4") ... "unknown" where the
/// system does not say.
std::vector<std::pair<std::string, std::string>> host_facts();

/// The type of the file system that holds `path` (or its nearest existing parent): "ext4", "tmpfs",
/// "lustre"...
std::string file_system_of(const std::filesystem::path& path);

/// Name and value of the environment variables that may be stored (OMP_* NCCL_* UCX_* OMPI_MCA_* HDF5_*
/// SLURM_* CUDA_VISIBLE_DEVICES, and those that choose the processor's instructions: ONEDNN_MAX_CPU_ISA
/// ATEN_CPU_CAPABILITY and others of ONEDNN_* DNNL_* ATEN_*): never the whole environment, which holds
/// secrets.
std::vector<std::pair<std::string, std::string>> allowed_environment();

}  // namespace ranklab::host
