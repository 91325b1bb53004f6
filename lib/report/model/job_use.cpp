#include "report/model/job_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "report/model/run_group.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

// Of all hosts as one.
HostUse sum_of(const std::vector<HostUse>& hosts) {
    HostUse all;
    for (const auto& host : hosts) {
        all.wall_s = std::max(all.wall_s, host.wall_s);
        all.cpu_s += host.cpu_s;
        all.cpus += host.cpus;
    }
    return all;
}

std::string memory_text(const HostUse& host, bool several) {
    std::string text = "memory " + base::human_bytes(host.peak_rss_bytes);
    if (host.memory_asked_bytes > 0)
        text += fmt::format(" of {} asked", base::human_bytes(host.memory_asked_bytes));
    return text + (several ? " at most, on " + host.host : "");
}

}  // namespace

double HostUse::percent() const {
    constexpr double kWhole = 100;
    const double all = wall_s * static_cast<double>(cpus);
    return all > 0 ? kWhole * cpu_s / all : std::numeric_limits<double>::quiet_NaN();
}

std::vector<HostUse> job_use(const results::Run& run) {
    const results::Table* const table = run.find_table("job_use");
    InOrderMet<std::string, HostUse> hosts;
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const std::string name = text_at(*table, "host", row);
        HostUse& host = hosts[name];
        host.host = name;
        host.wall_s = std::max(host.wall_s, number_at(*table, "wall_s", row));
        host.cpu_s += number_at(*table, "cpu_s", row);
        host.cpus += static_cast<std::int64_t>(number_at(*table, "host_cpus", row));
        host.peak_rss_bytes += number_at(*table, "peak_rss_bytes", row);
        host.memory_asked_bytes =
            std::max(host.memory_asked_bytes, number_at(*table, "memory_asked_bytes", row));
    }
    return std::move(hosts.all());
}

std::string use_text(const std::vector<HostUse>& hosts) {
    const HostUse all = sum_of(hosts);
    if (!std::isfinite(all.percent())) return "";
    const bool several = hosts.size() > 1;
    const auto& least = *std::ranges::min_element(hosts, {}, &HostUse::percent);
    const auto& most = *std::ranges::max_element(hosts, {}, &HostUse::peak_rss_bytes);
    return fmt::format("{:.0f} % of the time of {} for {:.4g} s (waiting in MPI counts{}); {}", all.percent(),
                       counted(static_cast<std::size_t>(all.cpus), "CPU"), all.wall_s,
                       several ? fmt::format("; least: {:.0f} % on {}", least.percent(), least.host) : "",
                       memory_text(most, several));
}

}  // namespace ranklab::report::model
