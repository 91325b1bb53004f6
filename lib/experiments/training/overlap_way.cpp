#include "experiments/training/overlap_way.hpp"

#include <algorithm>
#include <span>
#include <thread>

#include "host/cgroups.hpp"
#include "host/topology.hpp"

namespace ranklab::experiments {

// How buckets are moved, where the user did not say; the same on all ranks. Measured (docs/overlap.md):
// between hosts a sleeping thread with non-blocking allreduces hides the network. Within a host moving is the
// processors' own work: the blocking allreduce does it in a third of the time, beside backward only where a
// core is free.
OverlapWay settle_overlap_way(vocabulary::TrainingSettings& settings, comm::Communicator& control,
                              int threads) {
    const bool one_host = control.local_size() == control.world_size();
    const int cores = host::cores_in(host::cpuset());
    const bool bound = cores * control.local_size() <= static_cast<int>(std::thread::hardware_concurrency());
    const int ranks = std::max(1, control.local_size());
    // Cores whose time the cgroup does not allow are not free.
    const double allowed = host::least_limit(host::cpu_quota()).value_or(cores * ranks) / ranks;
    const int own_cores = std::min(bound ? cores : cores / ranks, static_cast<int>(allowed));
    std::int64_t facts[] = {one_host ? 1 : 0, own_cores > threads ? 1 : 0};
    control.allreduce(comm::view(std::span(facts)), comm::ReduceOp::min);
    const bool spare_core = facts[1] == 1;
    vocabulary::settle(settings.transfer, facts[0] == 1 ? "blocking" : "background");
    vocabulary::settle(settings.progress, facts[0] == 0 || spare_core ? "thread" : "none");
    const auto& progress = *settings.progress;
    return {.progress = progress == "thread" ? train::Progress::thread
                        : progress == "poll" ? train::Progress::poll
                                             : train::Progress::none,
            .transfer =
                settings.transfer == "blocking" ? train::Transfer::blocking : train::Transfer::background};
}

}  // namespace ranklab::experiments
