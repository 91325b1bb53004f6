// The measured steps of a run, with the cores and threads of its first host.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::diagnosis {

using results::Run;

/// Of an interval, and steps in a block.
inline constexpr std::size_t kBlocks = 10, kFewestSteps = 4;

struct Steps {
    const Run& run;
    bool measured = false;
    Parts whole = {};
    std::vector<Parts> blocks = {};  // kBlocks of successive steps, or none
    double steps_s = 0;
    // Ranks and cores of the first host, threads and own cores of its first rank, which stand for
    // all hosts and ranks. NaN: not known.
    double ranks = 0, threads = 1, own_cores = stats::kNone, host_cores = stats::kNone;
    double others = stats::kNone;  // cores of the busiest host that other processes kept busy
    double others_share = 0;       // of the waits for cores that are losses

    bool oversubscribed() const { return threads > own_cores || threads * ranks > host_cores; }
    double other_load_s() const { return others_share * whole.lost_s(Parts::cores); }
    // If the kernel counts no waits for cores, oversubscription cannot be separated from imbalance
    // from step to step and from the sum.
    double own_threads_s() const {
        if (!oversubscribed()) return 0;
        if (run.find("core_wait_time_s") != nullptr)
            return whole.lost_s(Parts::cores) - other_load_s();
        return (1 - std::min(host_cores / ranks, own_cores) / threads) * whole.computing_s() +
               whole.lost_s(Parts::serialisation) + whole.lost_s(Parts::transfer);
    }
    // The cores of a host that ranklab can have: a thread beside another process gets half a core.
    double most_cores() const { return host_cores - std::fmax(others, 0) / 2; }
    // A rank's share of `cores` of its host, without the cores that decode.
    double for_rank(double cores) const {
        return cores / ranks - whole.decoding_s / whole.step_s();
    }
    double threads_for_cores() const { return std::floor(for_rank(host_cores) + 0.25); }
    // More threads would have a quarter more of the cores or more.
    bool has_idle_cores() const {
        return threads_for_cores() > threads && for_rank(most_cores()) >= 1.25 * threads;
    }
    double start_up_s() const { return run.median("time_to_first_step_s"); }
    double start_up_percent() const {
        return 100 * start_up_s() / std::max(run.duration_s, start_up_s() + steps_s);
    }
    // The value of the whole run, with the 95 % interval of the blocks' mean (Student's t) within 0
    // and 1.
    template <class Function>
    Cell efficiency(const Function& of) const {
        if (blocks.empty()) return of(whole);
        std::vector<double> values;
        for (const auto& block : blocks) values.push_back(of(block));
        const auto [low, high] = stats::mean_interval(values);
        const double value = of(whole), half = (high - low) / 2;
        return {value, {std::max(0.0, value - half), std::min(1.0, value + half)}};
    }
};

/// Options to try: known savings before upper bounds, the largest first.
Frame advice_for(const Steps& all, Cause cause, const predict::CapAdvice& cap);

}  // namespace ranklab::report::diagnosis
