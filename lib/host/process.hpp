// Facts of this process and its host: memory, threads, start-up time, Linux version, environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ranklab::host {

/// Fields of a /proc/PID/stat file (proc(5)) from the third on; the third, a letter, becomes 0.
std::vector<double> stat_fields(const std::filesystem::path& file);

/// Highest resident set so far (ru_maxrss).
std::int64_t peak_rss_bytes();

/// Memory of the host; 0 if unknown.
std::int64_t memory_bytes();

/// Memory that the job requested from Slurm on this host (SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU
/// times SLURM_CPUS_ON_NODE); 0 if none.
std::int64_t memory_asked_bytes();

/// Current number of threads of this process; 0 if unknown.
int thread_count();

/// Seconds since Linux started this process, including the loading of libraries; resolution 10 ms.
double seconds_since_process_start();

/// Host, process id and start time, which identify a process uniquely.
std::string process_instance();

/// Splits the time from the start of the process to its first step into parts.
class StartUp {
  public:
    struct Part {
        std::string name;
        double seconds = 0;
        static auto fields(auto& self) { return std::tie(self.name, self.seconds); }
    };

    /// Ends `part`. A part begins when the previous part ends, the first when the process starts.
    void done(std::string part);
    /// Ends the last part; later calls have no effect.
    void finish(std::string part);

    const std::vector<Part>& parts() const { return parts_; }
    double seconds() const { return until_; }  ///< sum over parts

  private:
    std::vector<Part> parts_;
    double until_ = 0;  // s since the process's start
    bool finished_ = false;
};

/// The folder that holds proc/ and sys/: "/", or RANKLAB_SYSTEM_ROOT, so that tests do not depend
/// on the machine.
std::filesystem::path system_root();

std::string host_name();

std::string cpu_model();  ///< "unknown" if /proc/cpuinfo lacks it

/// The frequency governors of `cpus`, each once: "performance and powersave"; "" if unknown.
std::string governor_of(const std::vector<int>& cpus,
                        const std::filesystem::path& root = system_root());

/// Name and value of facts of the host: ("kernel", "6.1.0"), ("load_1min", "0.4")...; missing
/// values are "unknown".
std::vector<std::pair<std::string, std::string>> host_facts();

/// Name and value of the environment variables on an allow-list (OMP_*, NCCL_*, SLURM_*...), which
/// a run stores. Never the whole environment: it may hold secrets.
std::vector<std::pair<std::string, std::string>> allowed_environment();

}  // namespace ranklab::host
