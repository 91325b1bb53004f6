// The runs of one command, interleaved: repetition by repetition, in an order drawn anew for each round.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "experiments/shared/experiment.hpp"

namespace ranklab::app {

/// One variant's run, all of whose repetitions are made. It has the table `order`: a row per whole repetition
/// with its round, its place in that round, and how many had a turn in it.
struct FinishedRun {
    std::size_t variant = 0;
    results::Run run;
    std::int64_t started = 0;  ///< Unix time of its first turn
    double used_s = 0;         ///< in its own turns
};

struct TurnCalls {
    /// Before a variant's first repetition.
    std::function<std::unique_ptr<experiments::Work>(std::size_t variant)> begin;
    /// Of a run that is done while one before it is not: it is not taken yet.
    std::function<void(std::size_t variant, const results::Run&)> finished;
    /// In the order of the variants, as soon as all before are finished.
    std::function<void(FinishedRun&&)> take;
};

/// Round after round, each variant that has begun by then (Variant::round) and is not done makes one
/// repetition. What drifts on the machine then hits all alike, and none always follows the same other one.
/// The order is that of `seed`, the same on all ranks; works end in the reverse order of
/// their beginnings, after the last round. Where a signal stops one that has nothing to end with, it is
/// thrown behind the turns of the others: they end, too, each with what it has.
void take_turns(const std::vector<experiments::Variant>& variants, std::uint64_t seed,
                const TurnCalls& calls);

}  // namespace ranklab::app
