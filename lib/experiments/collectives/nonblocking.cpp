#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "base/clock.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/calls.hpp"
#include "measure/samples.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

// The numbers converge to 1, and never to denormals, with which computing would take longer.
void Compute::unit() {
    for (float& number : numbers_) number = number * 0.5F + 0.5F;
    asm volatile("" : : "g"(&numbers_[0]) : "memory");  // the compiler must keep every unit
}

void Compute::work(std::int64_t units, const std::function<void()>& between) {
    constexpr std::int64_t kPauses = 20;
    const std::int64_t stretch = between ? std::max<std::int64_t>(1, units / kPauses) : units;
    for (std::int64_t done = 0; done < units; ++done) {
        unit();
        if (between && (done + 1) % stretch == 0) between();
    }
}

// Takes the fastest of five trials: the slower ones were interrupted.
std::int64_t Compute::units_of(double seconds) {
    constexpr std::int64_t kTrial = 2000;
    double quickest = 1;
    for (int trial = 0; trial < 5; ++trial) {
        const auto begin = base::Clock::now();
        work(kTrial);
        quickest = std::min(quickest, base::seconds_since(begin));
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds / quickest * kTrial));
}

namespace {

using base::Clock;
using base::seconds_between;

class Starter {
  public:
    Starter(const Caller& caller, MpiProgress progress, Compute& compute)
        : caller_(caller), progress_(progress), compute_(compute) {}

    double pure() {
        caller_.data.barrier();
        const auto begin = Clock::now();
        auto request = caller_.data.start(caller_.transfer);
        request.wait();
        caller_.data.synchronize();
        return base::seconds_since(begin);
    }
    void overall(std::int64_t units, StartedTimes& times) {
        caller_.data.barrier();
        double tested = 0;
        const auto begin = Clock::now();
        auto request = caller_.data.start(caller_.transfer);
        const auto started = Clock::now();
        work_beside(request, units, tested);
        const auto computed = Clock::now();
        request.wait();
        caller_.data.synchronize();
        const auto end = Clock::now();
        times.init.push_back(seconds_between(begin, started));
        times.test.push_back(tested);
        times.wait.push_back(seconds_between(computed, end));
        times.overall.push_back(seconds_between(begin, end));
    }

  private:
    void work_beside(comm::Request& request, std::int64_t units, double& tested) {
        if (progress_ == MpiProgress::thread) return work_while_a_thread_polls(request, units);
        if (progress_ == MpiProgress::none) return compute_.work(units);
        compute_.work(units, [&] {
            const auto begin = Clock::now();
            request.test();
            tested += base::seconds_since(begin);
        });
    }

    // This thread makes no MPI call during the work, so MPI_THREAD_SERIALIZED suffices.
    void work_while_a_thread_polls(comm::Request& request, std::int64_t units) {
        std::atomic<bool> ends = false;
        auto helper = std::async(std::launch::async, [&] {
            while (!ends.load(std::memory_order_relaxed) && !request.test())
                std::this_thread::yield();
        });
        compute_.work(units);
        ends.store(true, std::memory_order_relaxed);
        helper.get();  // rethrows an error of the library
    }

    const Caller& caller_;
    MpiProgress progress_;
    Compute& compute_;
};

}  // namespace

StartedTimes time_started(const Caller& caller, int warmup, int calls, MpiProgress progress,
                          Compute& compute) {
    Starter starter(caller, progress, compute);
    StartedTimes times;
    for (int i = 0; i < warmup; ++i) starter.pure();
    for (int i = 0; i < calls; ++i) times.pure.push_back(starter.pure());
    const double alone =
        comm::reduced(caller.control, stats::summarise(times.pure).median, comm::ReduceOp::max);
    const std::int64_t units = compute.units_of(alone);
    for (int i = 0; i < warmup; ++i) {
        StartedTimes forgotten;
        starter.overall(units, forgotten);
    }
    for (int i = 0; i < calls; ++i) {
        const auto begin = Clock::now();
        compute.work(units);
        times.compute.push_back(base::seconds_since(begin));
        starter.overall(units, times);
    }
    return times;
}

StartedTimes longest_us(comm::Communicator& control, StartedTimes seconds, int calls) {
    auto& [pure, compute, overall, init, test, wait] = seconds;
    for (auto* const part : {&pure, &compute, &overall, &init, &test, &wait}) {
        part->resize(static_cast<std::size_t>(calls), 0);
        *part = measure::largest_of_ranks(control, std::move(*part));
        for (double& time : *part) time *= 1e6;
    }
    return seconds;
}

}  // namespace ranklab::experiments
