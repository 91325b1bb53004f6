#include "experiments/collectives/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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

namespace {

using measure::clock_seconds;

void sleep_if_asked(const Caller& caller) {
    if (caller.sleep_s > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(caller.sleep_s));
}

void timed_call(const Caller& caller, CallSync between, CallTimes& times) {
    sleep_if_asked(caller);
    const double begin = clock_seconds();
    caller.level.data->run(caller.transfer);
    caller.level.data->synchronize();
    if (between == CallSync::barrier_inside) caller.level.data->barrier();
    const double end = clock_seconds();
    if (between == CallSync::barrier) caller.level.data->barrier();
    times.seconds.push_back(end - begin);
    times.came_s.push_back(begin);
    base::count_progress();
}

// Times the call from the next agreed time, even if this rank begins later. The common clock is
// rank 0's.
void window_call(const Caller& caller, CallTimes& times) {
    const double common = clock_seconds() - caller.clock_offset_s + caller.ahead_s;
    const double agreed = comm::from_root(*caller.level.control, common) + caller.clock_offset_s;
    sleep_if_asked(caller);
    double came = clock_seconds();
    if (came > agreed + caller.clock_error_s) ++times.late_begins;
    while (came < agreed) came = clock_seconds();
    caller.level.data->run(caller.transfer);
    caller.level.data->synchronize();
    times.seconds.push_back(clock_seconds() - agreed);
    base::count_progress();
}

void timed_loop(const Caller& caller, CallSync between, int calls, CallTimes& times) {
    for (auto* const one : {&times.seconds, &times.came_s}) {
        one->resize(calls);  // page faults in the loop would delay a rank
        one->clear();
    }
    caller.level.data->barrier();
    const double begin = clock_seconds();
    for (int i = 0; i < calls; ++i) {
        if (between == CallSync::nothing_loop) {
            sleep_if_asked(caller);
            caller.level.data->run(caller.transfer);
        } else if (between == CallSync::window) {
            window_call(caller, times);
        } else {
            timed_call(caller, between, times);
        }
    }
    if (between == CallSync::nothing_loop) {
        caller.level.data->synchronize();
        times.seconds.push_back((clock_seconds() - begin) / calls);
    }
    times.wall_s = clock_seconds() - begin;
    caller.level.data->barrier();
}

int rank_in(const std::string& text, const std::string& word) {
    if (const auto rank = base::number_in<int>(word); rank && *rank >= 0) return *rank;
    throw base::OptionError(
        fmt::format("--fault takes flip:RANK or sleep:RANK:MS, such as sleep:1:20; not '{}'",
                    base::printable(text, 60)));
}

// Returns the latest moment of each call over ranks; -infinity if no rank has one.
std::vector<double> latest(std::vector<double> moments, comm::Communicator& control) {
    for (double& moment : moments)
        if (std::isnan(moment)) moment = -HUGE_VAL;
    return measure::largest_of_ranks(control, std::move(moments));
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

std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s) {
    std::vector<double> came, before_leaving;
    for (std::size_t call = 0; call < times.came_s.size(); ++call) {
        came.push_back(times.came_s[call] - offset_s);
        before_leaving.push_back(-came.back() - times.seconds[call]);
    }
    came = latest(std::move(came), control);
    before_leaving = latest(std::move(before_leaving), control);
    std::int64_t early = 0;
    for (std::size_t call = 0; call < came.size(); ++call)
        if (-before_leaving[call] < came[call] - error_s) ++early;
    return early;
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
    CallTimes times;
    if (caller.level.active) timed_loop(caller, between, calls, times);
    if (caller.takes_part) return times;
    times.seconds.assign(between == CallSync::nothing_loop ? 1 : calls, stats::kNone);
    times.came_s = times.seconds;
    return times;
}

// The numbers converge to 1: they never become denormals, which are slower to compute with.
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

// Returns the seconds from the operation's start to its end; calls `beside` in between.
double started_s(const Caller& caller, const std::function<void(comm::Request&)>& beside) {
    caller.level.data->barrier();
    const auto begin = Clock::now();
    auto request = caller.level.data->start(caller.transfer);
    beside(request);
    request.wait();
    caller.level.data->synchronize();
    return base::seconds_since(begin);
}

}  // namespace

StartedTimes time_started(const Caller& caller, int warmup, int calls, bool polls,
                          Compute& compute) {
    StartedTimes times;
    for (int i = -warmup; i < calls; ++i) {
        const double pure = started_s(caller, [](auto&) {});
        if (i >= 0) times.pure.push_back(pure);
    }
    const double alone = comm::reduced(*caller.level.control, stats::summarise(times.pure).median,
                                       comm::ReduceOp::max);
    const std::int64_t units = compute.units_of(alone);
    const auto work = [&](comm::Request& request) {
        polls ? compute.work(units, [&] { request.test(); }) : compute.work(units);
    };
    for (int i = 0; i < warmup; ++i) started_s(caller, work);
    for (int i = 0; i < calls; ++i) {
        const auto begin = Clock::now();
        compute.work(units);
        times.compute.push_back(base::seconds_since(begin));
        times.overall.push_back(started_s(caller, work));
    }
    return times;
}

StartedTimes longest_us(comm::Communicator& control, StartedTimes seconds, int calls) {
    auto& [pure, compute, overall] = seconds;
    for (auto* const part : {&pure, &compute, &overall}) {
        part->resize(static_cast<std::size_t>(calls), 0);
        *part = measure::largest_of_ranks(control, std::move(*part));
        for (double& time : *part) time *= 1e6;
    }
    return seconds;
}

}  // namespace ranklab::experiments
