// What this node is: read once, stored with every run.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ranklab::host {

/// Where /proc and /sys are read: "/"; RANKLAB_SYSTEM_ROOT names another folder, so that tests do not depend
/// on their machine.
std::filesystem::path system_root();

std::string host_name();

/// "unknown" where the system does not say.
std::string cpu_model();

/// The frequency governors of `cpus`, each once: "powersave and performance"; "" where the system does not
/// say.
std::string governor_of(const std::vector<int>& cpus, const std::filesystem::path& root = system_root());

/// ("kernel", "6.1.0"), ("cpu", "..."), ("governor", "..."), ("load_1min", "0.4") ... "unknown" where the
/// system does not say.
std::vector<std::pair<std::string, std::string>> host_facts();

/// Name and value of the environment variables that may be stored (OMP_* NCCL_* UCX_* OMPI_MCA_* HDF5_*
/// SLURM_* CUDA_VISIBLE_DEVICES, and those that choose the processor's instructions: ONEDNN_MAX_CPU_ISA
/// ATEN_CPU_CAPABILITY and others of ONEDNN_* DNNL_* ATEN_*): never the whole environment, which holds
/// secrets.
std::vector<std::pair<std::string, std::string>> allowed_environment();

}  // namespace ranklab::host
