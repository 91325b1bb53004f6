// What the stamps of all ranks' reductions say: how long data travelled, how much of that was hidden behind
// backward, who waited for whom. No torch in here, and no ranks in analyse(): it can be tested on made-up
// stamps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/gather.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Seconds since the step began, on this rank's clock.
struct ReductionTimes {
    double ready = 0;   ///< this rank's gradients were there
    double start = 0;   ///< handed to the library
    double moving = 0;  ///< all ranks were known to have come, or somebody began to move it
    double end = 0;     ///< the sum was there
};

/// One rank's step.
struct StepReductions {
    double backward_begin = 0;
    double backward_end = 0;
    std::vector<ReductionTimes> reductions;
};

/// One step of all ranks. Clocks of different hosts are not compared: a reduction ends everywhere when the
/// last rank has come and the data has travelled, so the shortest of the ranks' (end - moving) is the
/// transfer, and what a rank's (end - start) is longer was waiting: of the reduction, and of the rank only as
/// far as it was not in its backward meanwhile.
struct StepAnalysis {
    double transfer = 0;            ///< sum over reductions: total communication
    double hidden = 0;              ///< of it, inside the backward of the rank that came last
    std::vector<double> wait;       ///< by rank: sum over reductions
    std::vector<double> idle;       ///< of it, outside of its backward, until its gradients are there
    std::vector<double> transfers;  ///< by reduction
    std::size_t last_rank = 0;      ///< whose reductions waited least
};
StepAnalysis analyse(const std::vector<StepReductions>& by_rank);

/// Whether a rank that came last in so many of the steps is late, and not unlucky: in most of them, and in so
/// many that it would happen to no rank of a thousand runs whose ranks are alike.
bool mostly_last(std::size_t times, std::size_t steps, std::size_t ranks);

/// Calls `take` with each step of all ranks, by rank, of those that have as many reductions as the last one
/// (the first ones may have had other buckets). Collective, in pieces of a few steps: never are all of them
/// in memory. Of many ranks the first steps alone, so that what is kept of each rank's stays bounded.
void visit_reductions(const std::vector<StepReductions>& mine, comm::Communicator& control,
                      const std::function<void(const std::vector<StepReductions>& by_rank)>& take);

/// Pairs of steps, with communication and with the same arithmetic without it; each is this rank's time.
struct OverlapProbe {
    std::vector<double> with;
    std::vector<double> without;
    std::vector<double> backward_with;
    std::vector<double> backward_without;
    std::vector<StepReductions> reductions;  ///< of the steps with
};

struct CommunicationFacts {
    std::vector<std::size_t> bucket_bytes;
    std::vector<std::size_t> bucket_parameters;
};

/// Medians over counted steps.
struct StepMedians {
    measure::RankSamples phases;  ///< a row a phase, in base::Phase's order; a column a rank
    double step = 0;              ///< of the slowest ranks' steps
};

/// Collective. Adds measurements and the tables `communication` (a row a reduction) and `waiting` (a row a
/// rank), and of a late rank a fact and a warning that names it, its host and its phase.
void add_communication(results::Run& run, const std::vector<StepReductions>& mine, const OverlapProbe& probe,
                       const CommunicationFacts& facts, const StepMedians& medians, const std::string& host,
                       comm::Communicator& control);

}  // namespace ranklab::experiments
