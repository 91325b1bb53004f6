// The record of a training run on each rank, and the measurements made of it. No torch in here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/phase.hpp"
#include "comm/communicator.hpp"
#include "experiments/shared/verdicts.hpp"
#include "experiments/training/communication.hpp"
#include "experiments/training/lines.hpp"
#include "measure/convergence.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

struct EpochRow {
    std::int64_t epoch = 0;    ///< from 1, as the original counts
    std::int64_t steps = 0;    ///< that ran
    std::int64_t samples = 0;  ///< true count of all ranks
    /// The sum of its steps' times on this rank, without the time between them.
    double time_s = 0;
    double lr = 0;            ///< at its first step
    double loss_sum = 0;      ///< of its steps, on this rank
    double global_count = 0;  ///< what all ranks' sums are divided by
    bool evaluated = false;
    double validation_time_s = stats::kNone;  ///< of the evaluation after it, on this rank
    double validation_loss = 0;
    double validation_accuracy = stats::kNone;  ///< of models that classify
};

/// How far a run came that ended before its plan did.
struct EarlyEnd {
    bool at_time_limit = false;
    int signal = 0;  ///< SIGTERM, SIGINT: the user's request
    /// The part missing after the last step, after "before": "the evaluation was made"; "": none.
    std::string missing;
    bool has_checkpoint = false;  ///< of its last step
};

/// A step's facts other than its times.
struct StepNotes {
    double read_s = 0, decode_s = 0, augment_s = 0;  ///< by the loader's threads
    double rate = 0;                                 ///< of learning
    double loss_sum = 0;                             ///< this rank's mean loss x its samples
    double global_count = 0;                         ///< the divisor of the mean
    double true_count = 0;                           ///< without repeats
};

/// One rank's record, in step order; what is "global" is the same on all ranks.
struct TrainingRecord {
    measure::Schedule schedule;
    std::vector<base::Phase> phases;  ///< that a step of this mode has; others are not reported
    std::vector<measure::StepTimes> steps;
    std::vector<StepNotes> notes;  ///< a row a step
    std::vector<EpochRow> epochs;
    LineTimes lines;
    SampledSteps reductions;  ///< of counted steps
    CommunicationFacts facts;
    OverlapProbe probe;
    std::vector<double> checkpoint_times;        ///< seconds of each that was written, on this rank
    double time_to_first_step_s = stats::kNone;  ///< NaN: not known
    EarlyEnd end;                                ///< of a run that did not come to its own
    measure::Convergence convergence;            ///< of --target-ci
    std::int64_t least_steps = 0;                ///< that it was to count
    bool computes = true;                        ///< false: batches were made, and nothing else
    double peak_gpu_bytes = stats::kNone;        ///< of this rank; NaN: it computes on no GPU
};

/// Gathers over the control plane (all ranks call it) and fills measurements, tables, warnings and
/// verdict. `host` is this rank's.
void fill_run(results::Run& run, const TrainingRecord& record,
              const std::vector<CheckResult>& verdicts, const std::string& host,
              comm::Communicator& control);

/// "after 57 of 200 steps", "after all 200 steps, before the evaluation was made".
std::string how_far(const TrainingRecord& record);

}  // namespace ranklab::experiments
