#include "experiments/collectives/nonblocking.hpp"

#include <atomic>
#include <exception>
#include <thread>

#include "base/clock.hpp"
#include "comm/exchange.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

using base::Clock;
using base::seconds_between;

// Looks at the request while it lives, in a thread of its own. The rank's other thread makes no MPI call
// meanwhile: MPI_THREAD_SERIALIZED is enough.
class Helper : base::Pinned {
  public:
    explicit Helper(comm::Request& request)
        : thread_([this, &request] {
              try {
                  while (!ends_.load(std::memory_order_relaxed) && !request.test()) std::this_thread::yield();
              } catch (...) {
                  failure_ = std::current_exception();
              }
          }) {}
    ~Helper() { join(); }
    /// Throws what the library said to the thread.
    void finish() {
        join();
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void join() {
        ends_.store(true, std::memory_order_relaxed);
        if (thread_.joinable()) thread_.join();
    }

    std::exception_ptr failure_;
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

class Starter {
  public:
    Starter(const Caller& caller, Help help, Compute& compute)
        : caller_(caller), help_(help), compute_(compute) {}

    double pure() {
        caller_.data.barrier();
        const auto begin = Clock::now();
        auto request = caller_.calls.front()->start();
        request.wait();
        caller_.data.synchronize();
        return base::seconds_since(begin);
    }
    double compute(std::int64_t units) {
        const auto begin = Clock::now();
        compute_.work(units);
        return base::seconds_since(begin);
    }
    void overall(std::int64_t units, StartedTimes& times) {
        caller_.data.barrier();
        double tested = 0;
        const auto begin = Clock::now();
        auto request = caller_.calls.front()->start();
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
        if (help_ == Help::thread) {
            Helper helper(request);
            compute_.work(units);
            return helper.finish();
        }
        if (help_ == Help::none) return compute_.work(units);
        compute_.work(units, [&] {
            const auto begin = Clock::now();
            request.test();
            tested += base::seconds_since(begin);
        });
    }

    const Caller& caller_;
    Help help_;
    Compute& compute_;
};

}  // namespace

bool can_start(comm::Operation operation) {
    return !comm::is_between_two(operation);
}

StartedTimes time_started(const Caller& caller, const Policy& policy, Help help, Compute& compute) {
    Starter starter(caller, help, compute);
    StartedTimes times;
    for (int i = 0; i < policy.warmup; ++i) starter.pure();
    for (int i = 0; i < policy.calls; ++i) times.pure.push_back(starter.pure());
    const double alone =
        comm::reduced(caller.control, stats::summarise(times.pure).median, comm::ReduceOp::max);
    const std::int64_t units = compute.units_of(alone);
    for (int i = 0; i < policy.warmup; ++i) {
        StartedTimes forgotten;
        starter.overall(units, forgotten);
    }
    for (int i = 0; i < policy.calls; ++i) {
        times.compute.push_back(starter.compute(units));
        starter.overall(units, times);
    }
    return times;
}

}  // namespace ranklab::experiments
