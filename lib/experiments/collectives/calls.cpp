#include "experiments/collectives/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "measure/clock_offset.hpp"
#include "measure/samples.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

double over_ranks(std::span<const double> of_ranks, RankReduction policy) {
    std::vector<double> there(of_ranks.begin(), of_ranks.end());
    std::erase_if(there, [](double s) { return std::isnan(s); });
    if (there.empty()) return stats::kNone;
    switch (policy) {
        case RankReduction::rank_0:
            return there.front();
        case RankReduction::mean:
            return stats::mean_of_finite(there);
        case RankReduction::shortest:
            return *std::ranges::min_element(there);
        case RankReduction::longest:
            break;
    }
    return *std::ranges::max_element(there);
}

std::vector<double> us_over_ranks(comm::Communicator& control, std::span<const double> seconds,
                                  comm::Operation operation, RankReduction policy) {
    if (comm::is_between_two(operation)) policy = RankReduction::rank_0;
    const auto all = measure::gather_columns(control, seconds);
    std::vector<double> us;
    for (std::size_t call = 0; call < all.rows(); ++call)
        us.push_back(
            1e6 / comm::messages_of(operation) *
            over_ranks(std::span(all.values).subspan(call * all.ranks, all.ranks), policy));
    return us;
}

namespace {

using measure::clock_seconds;

class Loop {
  public:
    Loop(const Caller& caller, CallSync between, int calls)
        : caller_(caller), between_(between), calls_(calls) {}

    CallTimes run() {
        touch(times_.seconds);
        touch(times_.came_s);
        caller_.data.barrier();
        const double begin = clock_seconds();
        if (between_ == CallSync::nothing_loop)
            whole_loop();
        else
            for (int i = 0; i < calls_; ++i) timed_call();
        times_.wall_s = clock_seconds() - begin;
        caller_.data.barrier();
        return std::move(times_);
    }

  private:
    // Touches the memory now: page faults within the loop would delay one rank.
    void touch(std::vector<double>& times) const {
        times.resize(static_cast<std::size_t>(calls_));
        times.clear();
    }
    void whole_loop() {
        const double begin = clock_seconds();
        times_.came_s.push_back(begin);
        for (int i = 0; i < calls_; ++i) {
            sleep_if_asked();
            caller_.data.run(caller_.transfer);
        }
        caller_.data.synchronize();
        times_.seconds.push_back((clock_seconds() - begin) / calls_);
    }
    void timed_call() {
        if (between_ == CallSync::window) return window_call();
        sleep_if_asked();
        const double begin = clock_seconds();
        caller_.data.run(caller_.transfer);
        caller_.data.synchronize();
        if (between_ == CallSync::barrier_inside) caller_.data.barrier();
        const double end = clock_seconds();
        if (between_ == CallSync::barrier) caller_.data.barrier();
        times_.seconds.push_back(end - begin);
        times_.came_s.push_back(begin);
        base::count_progress();
    }
    // Times the call from the agreed time, even if this rank begins later.
    void window_call() {
        const double agreed = agreed_moment();
        sleep_if_asked();
        double came = clock_seconds();
        if (came > agreed + caller_.clock_error_s) ++times_.late_begins;
        while (came < agreed) came = clock_seconds();
        caller_.data.run(caller_.transfer);
        caller_.data.synchronize();
        times_.seconds.push_back(clock_seconds() - agreed);
        times_.came_s.push_back(came);
        base::count_progress();
    }
    // Returns the next agreed time on this rank's clock. The common clock is rank 0's.
    double agreed_moment() const {
        const double common = clock_seconds() - caller_.clock_offset_s + caller_.ahead_s;
        return comm::from_root(caller_.control, common) + caller_.clock_offset_s;
    }
    void sleep_if_asked() const {
        if (caller_.sleep_s > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(caller_.sleep_s));
    }

    const Caller& caller_;
    CallSync between_;
    int calls_;
    CallTimes times_;
};

int rank_in(const std::string& text, const std::string& word) {
    if (const auto rank = base::number_in<int>(word); rank && *rank >= 0) return *rank;
    throw base::OptionError(
        fmt::format("--fault takes flip:RANK or sleep:RANK:MS, such as sleep:1:20; not '{}'",
                    base::printable(text, 60)));
}

}  // namespace

Fault parse_fault(const std::string& text) {
    const auto words = base::split(text, ':');
    if (words.size() == 2 && words[0] == "flip") return {.flips_on_rank = rank_in(text, words[1])};
    if (words.size() != 3 || words[0] != "sleep") rank_in(text, "");
    const auto ms = base::number_in(words[2]);
    if (!ms || !(*ms > 0) || *ms > 60'000)
        throw base::OptionError(fmt::format("--fault sleep:RANK:MS takes up to 60000 ms, not '{}'",
                                            base::printable(words[2], 60)));
    return {.sleeps_on_rank = rank_in(text, words[1]), .sleep_s = *ms / 1e3};
}

void CallTimes::add(const CallTimes& later) {
    seconds.insert(seconds.end(), later.seconds.begin(), later.seconds.end());
    came_s.insert(came_s.end(), later.came_s.begin(), later.came_s.end());
    wall_s += later.wall_s;
    late_begins += later.late_begins;
}

std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const std::vector<std::string>& hosts, bool all) {
    std::vector<Level> levels;
    const std::shared_ptr<void> nobody;  // the caller owns both communicators
    levels.push_back({.name = "job",
                      .ranks = control.world_size(),
                      .data = {nobody, &data},
                      .control = {nobody, &control}});
    const auto& here = hosts[static_cast<std::size_t>(control.rank())];
    const auto first_here = static_cast<int>(std::ranges::find(hosts, here) - hosts.begin());
    const std::int64_t ranks_here = std::ranges::count(hosts, here);
    const auto most = comm::reduced(control, ranks_here, comm::ReduceOp::max);
    if (!all || most == 1 || most == control.world_size()) return levels;
    const auto add = [&](const char* name, int color, bool active) {
        auto& level = levels.emplace_back(Level{.name = name, .active = active});
        level.data = data.split(color, data.rank());
        level.control = control.split(color, control.rank());
        level.ranks = static_cast<int>(comm::reduced<std::int64_t>(
            control, active ? level.data->world_size() : 1, comm::ReduceOp::max));
    };
    const bool is_first_here = first_here == control.rank();
    add("host", first_here, ranks_here == most);
    add("hosts", is_first_here ? 0 : 1, is_first_here);
    return levels;
}

CallTimes time_calls(const Caller& caller, CallSync between, int calls) {
    return Loop(caller, between, calls).run();
}

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
