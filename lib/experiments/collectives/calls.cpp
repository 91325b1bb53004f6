#include "experiments/collectives/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

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
    // Times the call from the agreed moment, even if this rank begins later.
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
    // Returns the next agreed moment on this rank's clock. The common clock is rank 0's.
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

}  // namespace ranklab::experiments
