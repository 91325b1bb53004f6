// CPU use of the ranks and, by difference, of other processes on the ranks' CPUs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/files.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::host {

/// A rank's use of its host between begin() and end().
struct Use {
    int rank = 0;
    std::string host;
    /// On the host's first rank: number of CPUs of all ranks of the host. On other ranks 0.
    int host_cpus = 0;
    double seconds = 0;  ///< wall time
    double cpu_s = 0;    ///< CPU time of the rank and the children that it waited for
    double process_s = 0, process_cpu_s = 0;  ///< wall and CPU time since the process's start
    std::optional<double> busy_s;             ///< CPU time of all processes on host_cpus, if known
    std::int64_t peak_rss_bytes = 0;          ///< of the rank's process, since its start
    std::int64_t memory_asked_bytes = 0;

    static auto fields(auto& self) {
        return std::tie(self.rank, self.host, self.host_cpus, self.seconds, self.cpu_s,
                        self.process_s, self.process_cpu_s, self.busy_s, self.peak_rss_bytes,
                        self.memory_asked_bytes);
    }
};

/// Measures one rank's use. No call waits for other ranks.
class UseMeter {
  public:
    UseMeter(int rank, const std::vector<Placement>& placements,
             std::filesystem::path root = system_root());

    void begin() {  ///< a second call discards the use before it
        begin_ = now(), end_ = std::nullopt;
    }
    void end() { end_ = now(); }  ///< a second call extends the use
    /// Whether /proc/stat has the CPUs' busy times. False on all ranks but a host's first.
    bool is_known() const { return begin_.busy_s.has_value(); }
    /// The use from begin() to end(), or until now if end() was not called.
    Use use() const;

  private:
    struct Moment {
        double at_s = 0, cpu_s = 0;
        std::optional<double> busy_s = {}, all_s = {};
    };
    Moment now() const;

    std::filesystem::path root_;
    std::vector<int> cpus_;  // of all ranks of the host; empty except on the host's first rank
    Use use_;
    Moment begin_;
    std::optional<Moment> end_;
};

/// Time in which threads of this process were ready to run and waited for a CPU (the run_delay of
/// /proc/PID/task/TID/schedstat). 0 on systems that do not count it.
class CoreWait {
  public:
    explicit CoreWait(const std::vector<pid_t>& threads = {},
                      const std::filesystem::path& root = system_root());
    /// The sum since each thread's start, in the order of `threads`. About 1 us per thread.
    std::vector<double> seconds() const;
    double seconds_of_first() const { return files_.empty() ? 0 : seconds_in(files_.front()); }

  private:
    static double seconds_in(const base::Descriptor& file);

    std::vector<base::Descriptor> files_;
};

/// Load of other processes on the ranks' CPUs of a host.
struct OtherLoad {
    std::string host;
    double cpus_busy = 0;  ///< mean number of CPUs kept busy by other processes
    int cpus = 0;

    double share() const { return cpus_busy / cpus; }
    bool is_quiet() const { return share() <= vocabulary::kMostOtherLoad; }
};

/// One row per host with a known load. Uses of less than 1 s are left out: /proc/stat counts in
/// units of 0.01 s.
std::vector<OtherLoad> other_loads(const std::vector<Use>& uses);

}  // namespace ranklab::host
