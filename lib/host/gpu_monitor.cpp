#include "host/monitor.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace ranklab::host {

int rank_on(const std::vector<MonitoredRank>& ranks, const std::string& uuid,
            const std::string& pci_id) {
    for (const auto& one : ranks)
        if ((!uuid.empty() && one.gpu.uuid == uuid) || device::is_same_pci(one.gpu.pci_id, pci_id))
            return one.rank;
    return -1;
}

struct GpuMonitor::Shared {
    std::vector<MonitoredRank> ranks;
    double interval_s;
    base::Clock::time_point began;
    std::string host = host_name();

    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false, done = false;
    GpuSamples samples = {.rows = {}, .energy = {}};

    void work();
    void sample(const std::vector<device::GpuMeter>& gpus, std::vector<double>& first_J);
};

void GpuMonitor::Shared::work() {
    const auto meters = device::open_gpu_meters();
    std::vector<double> first_J;
    sample(meters.gpus, first_J);
    for (bool last = false; !last;) {
        std::unique_lock lock(mutex);
        last = changed.wait_for(lock, std::chrono::duration<double>(interval_s),
                                [this] { return stopping; });
        lock.unlock();
        sample(meters.gpus, first_J);
    }
    const std::lock_guard lock(mutex);
    if (meters.gpus.empty()) samples.energy = {.why_not = meters.why_none};
    done = true;
    changed.notify_all();
}

// Does not hold the lock during calls of the driver, which may block.
void GpuMonitor::Shared::sample(const std::vector<device::GpuMeter>& gpus,
                                std::vector<double>& first_J) {
    constexpr double kMostWatts = 1e4;  // of a GPU: a counter that grows faster is broken
    Energy sum{.joules = 0};
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const auto& gpu = gpus[i];
        const double time_s = base::seconds_since(began);
        auto is = gpu.read();
        const bool is_first = first_J.size() == i;
        if (is_first) first_J.push_back(is.energy_J);
        is.energy_J -= first_J[i];
        // A restarted driver counts from 0 again.
        const bool moves = is.energy_J > 0 && is.energy_J < kMostWatts * (1 + time_s);
        if (!is_first && !moves) is.energy_J = device::GpuReading::kNone;
        sum.joules += is.energy_J;
        if (!moves) sum.why_not = fmt::format("the energy counter of GPU {} does not move", gpu.id);
        const std::lock_guard lock(mutex);
        samples.rows.push_back(
            {time_s, host, gpu.id, gpu.name, rank_on(ranks, gpu.id, gpu.pci_id), std::move(is)});
    }
    const std::lock_guard lock(mutex);
    samples.energy = std::move(sum);
}

GpuMonitor::GpuMonitor(std::vector<MonitoredRank> ranks, double interval_s,
                       base::Clock::time_point began)
    : shared_(std::make_shared<Shared>(std::move(ranks), interval_s, began)),
      thread_([shared = shared_] { shared->work(); }) {}

GpuSamples GpuMonitor::stop(std::chrono::duration<double> patience) {
    if (!thread_.joinable()) return {};
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
    const bool done = shared_->changed.wait_for(lock, patience, [this] { return shared_->done; });
    auto samples = std::move(shared_->samples);
    lock.unlock();
    if (done) {
        thread_.join();
    } else {
        thread_.detach();
        samples.energy = {
            .why_not = fmt::format("the driver did not answer within {:.0f} s", patience.count())};
    }
    return samples;
}

}  // namespace ranklab::host
