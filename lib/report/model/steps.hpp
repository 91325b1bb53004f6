// The measured steps of a training run in parts (docs/why.md), with the cores and threads of its
// first host.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// The parts of a mean step, in seconds.
struct Parts {
    /// Ascending levels: a typical rank's computing; with moving data between the replicas of
    /// --mode dp; with its wait for samples; the slowest node's typical rank; the slowest rank; the
    /// step on cores of its own and a network that takes no time; with the waits for cores; with a
    /// late handover of gradients; the measured step. A typical rank is the lower median. A loss is
    /// the difference of two neighbours, its factor the lower level over the upper one; the product
    /// of all factors is parallel().
    enum Loss : std::size_t {
        replicas,
        input,
        between_nodes,
        within_node,
        serialisation,
        cores,
        handover,
        transfer,
        kLosses
    };
    std::array<double, kLosses + 1> level_s{};
    double update_s = 0;                   ///< a typical rank's
    double reading_s = 0, decoding_s = 0;  ///< sums over the loader's threads of a rank
    std::size_t slowest_rank = 0;          ///< longest step without its waits

    double computing_s() const { return level_s.front(); }
    double step_s() const { return level_s.back(); }
    double parallel() const { return level_s.front() / level_s.back(); }
    double lost_s(Loss loss) const { return level_s[loss + 1] - level_s[loss]; }
    Loss largest_loss() const;
    double factor(Loss loss) const { return level_s[loss] / level_s[loss + 1]; }
    double late_s() const { return lost_s(between_nodes) + lost_s(within_node) + lost_s(handover); }
    double loader_s() const { return reading_s + decoding_s; }
    /// Time that does not depend on the batch size: the update and the sum of gradients.
    double fixed_s() const { return update_s + lost_s(transfer); }
    double percent_of(double seconds) const { return 100 * seconds / step_s(); }
};
/// The losses in words, by Parts::Loss.
inline constexpr const char* kLossNames[] = {"moving between replicas",     "waiting for samples",
                                             "imbalance between nodes",     "imbalance in a node",
                                             "imbalance from step to step", "waiting for a core",
                                             "late handover of gradients",  "summing gradients"};
/// The mean over the counted steps from `first_step` up to `end_step`. Requires the samples of each
/// rank. Without steps, takes the table `waterfall`. `core_share`: the share of the waits
/// for cores that counts as a loss, the rest as computing.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step,
               double core_share = 1);

/// Blocks of which an interval is made; the fewest steps in a block.
inline constexpr std::size_t kBlocks = 10, kFewestSteps = 4;

struct Steps {
    const results::Run& run;
    bool measured = false;
    Parts whole = {};
    std::vector<Parts> blocks = {};  // kBlocks of successive steps, or none
    double steps_s = 0;
    // Ranks and cores of the first host, threads and own cores of its first rank, which stand for
    // all hosts and ranks. NaN: not known.
    double ranks = 0, threads = 1, own_cores = stats::kNone, host_cores = stats::kNone;
    double others = stats::kNone;  // cores of the busiest host that other processes kept busy
    double others_share = 0;       // of lost_s(Parts::cores), due to other processes

    bool oversubscribed() const { return threads > own_cores || threads * ranks > host_cores; }
    double other_load_s() const { return others_share * whole.lost_s(Parts::cores); }
    // If the kernel does not count waits for cores, those by oversubscription appear as computing,
    // as imbalance that changes from step to step, and as time of the sum.
    double own_threads_s() const {
        if (!oversubscribed()) return 0;
        if (run.find("core_wait_time_s") != nullptr)
            return whole.lost_s(Parts::cores) - other_load_s();
        return (1 - std::min(host_cores / ranks, own_cores) / threads) * whole.computing_s() +
               whole.lost_s(Parts::serialisation) + whole.lost_s(Parts::transfer);
    }
    double free_cores() const { return host_cores - std::fmax(others, 0); }
    // A rank's share of `cores` of its host, without the cores that decode.
    double for_rank(double cores) const {
        return cores / ranks - whole.decoding_s / whole.step_s();
    }
    double threads_for_cores() const { return std::floor(for_rank(host_cores) + 0.25); }
    // Whether more threads could use at least a quarter more cores. A core shared with another
    // process does not count, since threads wait for the slowest one.
    bool has_idle_cores() const {
        return threads_for_cores() > threads && for_rank(free_cores()) >= 1.25 * threads;
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

/// Uses no phases if backward contains the wait for other ranks, which would count as computing.
Steps steps_of(const results::Run& run);

}  // namespace ranklab::report::model
