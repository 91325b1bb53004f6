// Analyses all ranks' reductions (transfer time, its part inside backward, the rank that the others
// waited for) and the overlap. No LibTorch in here; analyse() and estimate_overlap() are pure
// functions.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

/// Seconds since the step began, on this rank's clock.
struct ReductionTimes {
    double ready = 0;   ///< this rank's gradients were complete
    double start = 0;   ///< handed to the library
    double moving = 0;  ///< blocking: all ranks known to be ready; background: first poll
    double end = 0;     ///< the sum was complete
};

/// One rank's step.
struct StepReductions {
    double backward_begin = 0;
    double backward_end = 0;
    std::vector<ReductionTimes> reductions;

    static auto fields(auto& self) {
        return std::tie(self.backward_begin, self.backward_end, self.reductions);
    }
};

/// At most `most` of a rank's steps, spread evenly over a run of unknown length: once `most` are
/// kept, every second kept step is dropped, and of later steps half as many are kept as before. All
/// ranks keep the same steps.
class SampledSteps {
  public:
    SampledSteps() = default;
    explicit SampledSteps(std::size_t most) : most_(most) {}

    /// Adds the next step, or skips it.
    void add(StepReductions step);
    const std::vector<StepReductions>& steps() const { return steps_; }
    /// Number of steps that came, added or skipped.
    std::size_t seen() const { return seen_; }

  private:
    std::size_t most_ = 1024, every_ = 1, seen_ = 0;
    std::vector<StepReductions> steps_;
};

/// One reduction of a step, maxima over ranks, in s.
struct ReductionAnalysis {
    double ready = 0;     ///< gradients complete, from the begin of backward
    double waited = 0;    ///< from handing over to the transfer
    double transfer = 0;  ///< shortest over ranks
};

/// One step of all ranks, in s. Clocks of different hosts are never compared. A reduction ends on
/// all ranks once the last rank has arrived and the data has moved, so the minimum over ranks of
/// (end - moving) is the transfer. The rest of a rank's (end - start) is waiting. A rank is idle
/// only if it waits outside of its backward.
struct StepAnalysis {
    double transfer = 0;       ///< sum over reductions: total communication
    double hidden = 0;         ///< part of `transfer` during backward of a reduction's last rank
    std::vector<double> wait;  ///< by rank: sum over reductions
    std::vector<double> idle;  ///< by rank: part of `wait` outside of backward
    std::vector<ReductionAnalysis> reductions;
    std::size_t last_rank = 0;  ///< the rank whose reductions waited least
};
StepAnalysis analyse(const std::vector<StepReductions>& by_rank);

/// True if a rank that arrived last in `times` of `steps` is a straggler: `times` is at least 80 %
/// of the steps, and chance alone reaches `times` in at most one of a thousand runs.
bool mostly_last(std::size_t times, std::size_t steps, std::size_t ranks);

/// Bytes and parameters of each reduction of a step.
struct Buckets {
    std::vector<std::size_t> bytes, parameters;
};

/// Medians over counted steps.
struct StepMedians {
    measure::RankSamples phases;  ///< a row per phase, in base::Phase's order; a column per rank
    double step = 0;              ///< s, of the slowest rank in each step
};

/// Collective. Adds the tables `communication` (one row per reduction) and `waiting` (one row per
/// rank), and for a straggler a fact and a warning with its rank, host and phase. If only some
/// steps were analysed, the fact `steps_looked_at` says "262 of 10000".
void add_reductions(results::Run& run, const SampledSteps& mine, const Buckets& buckets,
                    const StepMedians& medians, comm::Communicator& control);

/// One row per pair of steps, with communication and without it. Seconds; maxima over ranks.
struct OverlapPairs {
    std::vector<double> with, without;                    ///< whole steps
    std::vector<double> backward_with, backward_without;  ///< their backward phases
    /// Seconds of communication by the reductions' time stamps: all, and the part inside backward.
    /// Empty if the host has no time stamps (on a GPU).
    std::vector<double> total, inside_backward;
};

struct OverlapEstimate {
    std::vector<double> exposed, backward_longer;  ///< one row per pair
    double hidden = stats::kNone;                  ///< s of communication that cost no time
    double overlap = stats::kNone;                 ///< NaN if there is a `why_none`
    stats::Interval ci;
    double balance = stats::kNone;
    std::string why_none;  ///< why these pairs give no overlap
};

/// Estimates by the formulae of docs/overlap.md. Gives an overlap only if there are enough pairs,
/// the times of transfers and of steps agree, the value is within 0 .. 1, and its interval does not
/// contain all of 0 .. 1.
OverlapEstimate estimate_overlap(const OverlapPairs& pairs);

/// Collective. Adds the overlap. `pairs`: this rank's times; without a pair, adds nothing. `mine`:
/// the reductions of the steps with communication.
void add_overlap(results::Run& run, OverlapPairs pairs, const std::vector<StepReductions>& mine,
                 comm::Communicator& control);

}  // namespace ranklab::experiments
