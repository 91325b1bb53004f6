#include "host/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/cpu_quota.hpp"
#include "host/facts.hpp"

namespace ranklab::host {

std::string OwnGpu::text() const {
    return name.empty() ? "" : fmt::format("{} [{}]", name, uuid);
}

Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus) {
    Placement p{.rank = rank,
                .local_rank = local_rank,
                .host = host_name(),
                .cpus = cpuset(),
                .build = build,
                .gpus = gpus,
                .cpu = cpu_model()};
    p.cores = core_names(p.cpus);
    p.threads = threads > 0 ? threads : std::max(1, static_cast<int>(p.cores.size()));
    p.threads_by_default = threads <= 0;
    p.quota = cpu_quota();
    return p;
}

std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus) {
    const bool one_model = std::all_of(placements.begin(), placements.end(),
                                       [&](const Placement& p) { return p.cpu == placements.front().cpu; });
    std::vector<std::string> devices;
    for (const auto& p : placements) {
        if (on_gpus && !p.own_gpu.name.empty())
            devices.push_back(p.own_gpu.text());
        else
            devices.push_back(one_model ? "cpu" : fmt::format("cpu ({})", p.cpu));
    }
    return devices;
}

}  // namespace ranklab::host
