#include "host/gpu_monitor.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "device/gpu_counters.hpp"

namespace ranklab::host {

int rank_on(const std::vector<GpuOfRank>& ranks, const std::string& uuid,
            const std::string& pci_id) {
    for (const auto& [rank, gpu] : ranks)
        if ((!uuid.empty() && gpu.uuid == uuid) || device::is_same_pci(gpu.pci_id, pci_id))
            return rank;
    return -1;
}

struct GpuMonitor::Shared {
    std::vector<GpuOfRank> ranks;
    double interval_s;
    base::Clock::time_point began;
    std::string host = host_name();

    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false, done = false;
    GpuSamples samples = {.rows = {}, .energy = {}};

    void work();
    void sample(const std::vector<device::GpuMeter>& gpus, std::vector<double>& first_J);
    bool wait_for_stop();
};

void GpuMonitor::Shared::work() {
    const auto meters = device::open_gpu_meters();
    std::vector<double> first_J;
    sample(meters.gpus, first_J);
    for (bool last = false; !last;) {
        last = wait_for_stop();
        sample(meters.gpus, first_J);
    }
    const std::lock_guard lock(mutex);
    if (meters.gpus.empty()) samples.energy = {.why_not = meters.why_none};
    done = true;
    changed.notify_all();
}

bool GpuMonitor::Shared::wait_for_stop() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::duration<double>(interval_s),
                            [this] { return stopping; });
}

// The lock is not held while the driver is asked.
void GpuMonitor::Shared::sample(const std::vector<device::GpuMeter>& gpus,
                                std::vector<double>& first_J) {
    Energy sum{.joules = 0};
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const auto& gpu = gpus[i];
        const double time_s = base::seconds_since(began);
        const auto is = gpu.read();
        if (first_J.size() == i) first_J.push_back(is.energy_J);
        const double energy_J = is.energy_J - first_J[i];
        sum.joules += energy_J;
        if (energy_J != energy_J) sum.why_not = fmt::format("GPU {} does not say its own", gpu.id);
        const std::lock_guard lock(mutex);
        samples.rows.push_back({time_s, host, gpu.id, gpu.name, rank_on(ranks, gpu.id, gpu.pci_id),
                                is.busy_percent, is.memory_bytes, is.power_W, is.temperature_C,
                                is.clock_MHz, is.throttle, energy_J});
    }
    const std::lock_guard lock(mutex);
    samples.energy = std::move(sum);
}

GpuMonitor::GpuMonitor(std::vector<GpuOfRank> ranks, double interval_s,
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
