// Whether this host is quiet: what its system counts of CPUs, before and after the work, and what that says.
// A fact that the system does not tell is no finding.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/finding.hpp"
#include "host/placement.hpp"

namespace ranklab::host {

/// Where /proc, /sys and the programs of PATH are looked for: "/"; RANKLAB_SYSTEM_ROOT names another folder,
/// so that tests do not depend on how busy their machine is.
std::filesystem::path system_root();

/// Of some CPUs, since the system's start; nothing where it does not say it.
struct Activity {
    double at_s = 0;                                ///< of a steady clock
    std::optional<double> busy_s, stolen_s, all_s;  ///< all_s: idle time, too
    /// How often each package, and each core, slowed itself down.
    std::map<std::string, double> throttled;
};
Activity look_at(const std::vector<int>& cpus, const std::filesystem::path& root = system_root());

/// CPU time of this process, and of its children that have ended.
double own_seconds();

/// The clock of one CPU: the one that this thread is on.
struct CpuClock {
    int cpu = -1;
    double mhz = 0;
};
/// Nothing where the system does not say it.
std::optional<CpuClock> cpu_clock(const std::filesystem::path& root = system_root());

/// Between two looks of one process.
struct Span {
    int rank = 0;
    std::string host;
    bool looks = false;  ///< at all CPUs of the ranks of its host: one rank of each host does
    int cpus = 0;
    double seconds = 0, own_s = 0;
    std::int64_t peak_rss_bytes = 0;  ///< of the process, so far
    std::int64_t memory_limit_bytes = 0;
    std::optional<double> busy_s, stolen_s, throttled, mhz_before, mhz_after;

    static auto fields(auto& self) {
        return std::tie(self.rank, self.host, self.looks, self.cpus, self.seconds, self.own_s,
                        self.peak_rss_bytes, self.memory_limit_bytes, self.busy_s, self.stolen_s,
                        self.throttled, self.mhz_before, self.mhz_after);
    }
};
Span span_of(const Activity& before, const Activity& after, int cpus);
/// Clocks of two CPUs say nothing of each other, and an idle CPU's says nothing at all: a thread that moved
/// meanwhile leaves them unknown.
void add_clocks(Span& span, const std::optional<CpuClock>& before, const std::optional<CpuClock>& after);

/// What the ranks' spans say of the quietest and the busiest of their hosts.
struct Quiet {
    struct Most {
        double value = 0;
        std::string host;
        std::size_t hosts = 0;  ///< that are beyond the limit
    };
    std::optional<Most> others_cores;    ///< busy with other than the job, in CPUs
    std::optional<Most> stolen_percent;  ///< of the CPUs' time
    std::optional<Most> throttled;       ///< times
    struct Frequency {
        double before_mhz = 0, after_mhz = 0;
        int rank = 0;
        std::string host;
    };
    std::optional<Frequency> frequency;  ///< of the rank whose CPU's clock moved most while it counted
};
Quiet quiet_of(const std::vector<Span>& spans);

inline constexpr double kMostOthers = 0.5;  ///< cores
inline constexpr double kMostStolen = 1;    ///< per cent
inline constexpr double kMostMoved = 0.1;   ///< of the higher frequency
inline constexpr double kLeastSeconds = 1;  ///< the system counts in hundredths of a second

/// What is beyond these limits, with its remedy.
std::vector<Finding> check_quiet(const Quiet& quiet);
/// ("others_cores", "0.12") ...: what is known.
std::vector<std::pair<std::string, std::string>> facts_of(const Quiet& quiet);

/// Slurm's commands and its slurm.conf are here, and the process is in none of its jobs: it may be a login
/// node.
std::optional<Finding> check_login_node(const std::filesystem::path& root = system_root());

}  // namespace ranklab::host
