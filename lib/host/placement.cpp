#include "host/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus) {
    Placement p{.rank = rank,
                .local_rank = local_rank,
                .host = host_name(),
                .cpus = cpuset(),
                .build = build,
                .gpus = gpus,
                .cpu = cpu_model(),
                .quota = cpu_quota()};
    p.cores = core_names(p.cpus);
    p.numa = numa_nodes_of(p.cpus);
    p.governor = governor_of(p.cpus);
    p.threads = threads > 0 ? threads : std::max(1, static_cast<int>(p.cores.size()));
    p.threads_by_default = threads <= 0;
    return p;
}

void settle_threads(std::vector<Placement>& placements) {
    std::map<std::pair<std::string, std::string>, int> sharers;
    for (const auto& p : placements)
        for (const auto& limit : p.quota.limits) ++sharers[{p.host, limit.cgroup}];
    for (auto& p : placements) {
        if (!p.threads_by_default) continue;
        for (const auto& limit : p.quota.limits) {
            const int part = static_cast<int>(limit.cpus / sharers.at({p.host, limit.cgroup}));
            p.threads = std::max(1, std::min(p.threads, part));
        }
    }
}

std::string quota_text(const std::vector<Placement>& placements) {
    const auto is_known = [](const Placement& p) { return p.quota.known; };
    if (placements.empty() || !std::ranges::all_of(placements, is_known)) return "unknown";
    double least = std::numeric_limits<double>::infinity();
    for (const auto& p : placements) least = std::min(least, least_limit(p.quota).value_or(least));
    return std::isfinite(least) ? fmt::format("{:g}", least) : "none";
}

std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus) {
    const bool one_model =
        std::ranges::all_of(placements, [&](const Placement& p) { return p.cpu == placements.front().cpu; });
    std::vector<std::string> devices;
    for (const auto& p : placements) {
        if (on_gpus && !p.own_gpu.name.empty())
            devices.push_back(fmt::format("{} [{}]", p.own_gpu.name, p.own_gpu.uuid));
        else
            devices.push_back(one_model ? "cpu" : fmt::format("cpu ({})", p.cpu));
    }
    return devices;
}

}  // namespace ranklab::host
