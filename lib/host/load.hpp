// Other processes' use of the ranks' cores while a run was counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/process.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

/// A rank's use of the machine between two moments.
struct Use {
    int rank = 0;
    std::string host;
    /// The number of CPUs of all ranks of its host, for the first of these ranks; 0 for the others.
    int host_cpus = 0;
    /// CPU time of its process, and of children that it has waited for.
    double seconds = 0, cpu_s = 0;
    std::optional<double> busy_s;     ///< of those CPUs; nullopt where the system does not say it
    std::int64_t peak_rss_bytes = 0;  ///< of the process, since its start
    std::int64_t memory_asked_bytes = 0;

    static auto fields(auto& self) {
        return std::tie(self.rank, self.host, self.host_cpus, self.seconds, self.cpu_s, self.busy_s,
                        self.peak_rss_bytes, self.memory_asked_bytes);
    }
};

/// Measures one rank's use. Neither call waits for other ranks.
class UseMeter {
  public:
    UseMeter(int rank, const std::vector<Placement>& placements,
             std::filesystem::path root = system_root());

    void begin() {  ///< called again, it drops the use before
        begin_ = now(), end_ = std::nullopt;
    }
    void end() { end_ = now(); }  ///< called again, it adds the use since
    /// Whether the system says how busy the CPUs are; on the first rank of each host.
    bool is_known() const { return begin_.busy_s.has_value(); }
    /// Until now where it was not ended.
    Use use() const;

  private:
    struct Moment {
        double at_s = 0, cpu_s = 0;
        std::optional<double> busy_s = {}, all_s = {};
    };
    Moment now() const;

    std::filesystem::path root_;
    std::vector<int> cpus_;  // of all ranks of the host; empty on those that are not its first
    Use use_;
    Moment begin_;
    std::optional<Moment> end_;
};

/// CPU time that others took of the ranks' CPUs on a host.
struct OtherLoad {
    std::string host;
    double cpus_busy = 0;  ///< mean over the time
    int cpus = 0;
};
inline constexpr double kMostOthers = 0.5;  ///< CPUs; more makes a finding

/// The load of other processes on hosts where it is known: not in less than a second, since the
/// system counts in hundredths.
std::vector<OtherLoad> other_loads(const std::vector<Use>& uses);

}  // namespace ranklab::host
