// The kernel's figures of this process, as htop and Slurm's MaxRSS show them, and the parts of its
// start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ranklab::host {

/// The fields of a process's stat file (proc(5)) from the third, its state, on.
std::vector<double> stat_fields(const std::filesystem::path& file);

/// Highest resident set so far, in bytes (getrusage's ru_maxrss).
std::int64_t peak_rss_bytes();

/// Memory of the host in bytes; 0 if unknown.
std::int64_t memory_bytes();

/// The memory that the job requested from Slurm on this host, in bytes (SLURM_MEM_PER_NODE, or
/// SLURM_MEM_PER_CPU times SLURM_CPUS_ON_NODE); 0 where it requested none, or without Slurm.
std::int64_t memory_asked_bytes();

/// Threads of this process now (/proc/self/task); 0 if unknown.
int thread_count();

/// Seconds since the kernel started this process (resolution 10 ms): loading libraries is in it.
double seconds_since_process_start();

/// Host, process id and start time: no other process has the same.
std::string process_instance();

/// The parts of the time from the start of the process to its first step.
class StartUp {
  public:
    struct Part {
        std::string name;
        double seconds = 0;
        static auto fields(auto& self) { return std::tie(self.name, self.seconds); }
    };

    /// Ends `part`, which began when the last part ended; the first began when the kernel started
    /// the process.
    void done(std::string part);
    /// As done(); later parts do not count.
    void finish(std::string part);

    const std::vector<Part>& parts() const { return parts_; }
    double seconds() const { return until_; }  ///< sum of the parts

  private:
    std::vector<Part> parts_;
    double until_ = 0;  // since the kernel started the process
    bool finished_ = false;
};

/// The folder in which /proc and /sys are read: "/", or RANKLAB_SYSTEM_ROOT, so that tests do not
/// depend on their machine.
std::filesystem::path system_root();

std::string host_name();

/// "unknown" where the system does not say.
std::string cpu_model();

/// The frequency governors of `cpus`, each once: "powersave and performance"; "" where the system
/// does not say.
std::string governor_of(const std::vector<int>& cpus,
                        const std::filesystem::path& root = system_root());

/// Facts of the host: ("kernel", "6.1.0"), ("cpu", "..."), ("load_1min", "0.4") ...; "unknown"
/// where the system does not say.
std::vector<std::pair<std::string, std::string>> host_facts();

/// Name and value of the environment variables that may be stored (OMP_* NCCL_* UCX_* OMPI_MCA_*
/// HDF5_* SLURM_* CUDA_VISIBLE_DEVICES, and those that choose the processor's instructions:
/// ONEDNN_MAX_CPU_ISA ATEN_CPU_CAPABILITY and others of ONEDNN_* DNNL_* ATEN_*): never the whole
/// environment, which holds secrets.
std::vector<std::pair<std::string, std::string>> allowed_environment();

}  // namespace ranklab::host
