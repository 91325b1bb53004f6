// Analysis of all ranks' reductions: transfer time, how much of it is hidden behind backward, and
// which rank the others waited for. It uses no torch, and analyse() uses no ranks, so that tests
// can use made-up stamps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/training/overlap.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Seconds since the step began, on this rank's clock.
struct ReductionTimes {
    double ready = 0;   ///< this rank's gradients were there
    double start = 0;   ///< handed to the library
    double moving = 0;  ///< all ranks were known to have come, or the transfer began
    double end = 0;     ///< the sum was there
};

/// One rank's step.
struct StepReductions {
    double backward_begin = 0;
    double backward_end = 0;
    std::vector<ReductionTimes> reductions;
};

/// At most so many of a rank's steps, spread evenly over a run of unknown length: when there is no
/// room every second one is dropped, and half as many are taken from then on. The steps are the
/// same on all ranks.
class SampledSteps {
  public:
    SampledSteps() = default;
    explicit SampledSteps(std::size_t most) : most_(most) {}

    /// The next step; whether it was taken.
    bool add(StepReductions step);
    const std::vector<StepReductions>& steps() const { return steps_; }
    /// Steps that came, taken or not.
    std::size_t seen() const { return seen_; }

  private:
    std::size_t most_ = 1024, every_ = 1, seen_ = 0;
    std::vector<StepReductions> steps_;
};

/// One step of all ranks. Clocks of different hosts are not compared: a reduction ends everywhere
/// when the last rank has come and the data has travelled, so the shortest of the ranks' (end -
/// moving) is the transfer. A rank's (end - start) beyond that is the reduction's waiting, and the
/// rank's own only outside of its backward.
struct StepAnalysis {
    double transfer = 0;       ///< sum over reductions: total communication
    double hidden = 0;         ///< of it, inside the backward of the rank that came last
    std::vector<double> wait;  ///< by rank: sum over reductions
    std::vector<double> idle;  ///< of it, outside of its backward, until its gradients are there
    std::vector<double> transfers;  ///< by reduction
    std::size_t last_rank = 0;      ///< whose reductions waited least
};
StepAnalysis analyse(const std::vector<StepReductions>& by_rank);

/// Whether a rank that came last in `times` of the steps is really late: it did in most of them,
/// and in so many that chance would cause it in one of a thousand runs at most.
bool mostly_last(std::size_t times, std::size_t steps, std::size_t ranks);

/// Calls `take` with each step of all ranks, by rank, that has as many reductions as the last one
/// (the first ones may have had other buckets). Collective, a step at a time, so that memory never
/// holds all of them.
void visit_reductions(const std::vector<StepReductions>& mine, comm::Communicator& control,
                      const std::function<void(const std::vector<StepReductions>& by_rank)>& take);

/// Pairs of steps, one with communication and one with the same arithmetic without it; times of
/// this rank, and the reductions of the steps with.
struct OverlapProbe {
    OverlapPairs pairs;
    std::vector<StepReductions> reductions;
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

/// Collective. Adds measurements and the tables `communication` (a row a reduction) and `waiting`
/// (a row a rank), and for a late rank a fact and a warning that names it, its host and its phase.
/// If only some steps were examined, the fact `steps_looked_at` says "262 of 10000".
void add_communication(results::Run& run, const SampledSteps& mine, const OverlapProbe& probe,
                       const CommunicationFacts& facts, const StepMedians& medians,
                       const std::string& host, comm::Communicator& control);

}  // namespace ranklab::experiments
