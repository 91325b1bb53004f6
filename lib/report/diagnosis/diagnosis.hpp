// Names what limits the step of a training run, and options to try (docs/why.md).
#pragma once

#include <string>
#include <vector>

#include "report/model/steps.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::diagnosis {

/// Of equal losses the first cause counts. templates/sentences.txt has a row for each, in order.
enum class Cause {
    not_measured,
    starting,
    costly_loader,
    slow_input,
    other_load,
    core_wait,
    threads_on_cores,
    ranks_on_cores,
    late_rank,
    uneven_steps,
    small_batch,
    replicas,
    transfer,
    launches,
    idle_cores,
    none
};
std::string name_of(Cause cause);   ///< "late_rank"
std::string bound_of(Cause cause);  ///< "imbalance": the resource that bounds the step

struct Diagnosis {
    std::string run = {};  ///< id
    Cause cause = Cause::not_measured;
    std::string why = {};  ///< the cause as a sentence
    /// One row per part of the mean step, with its factor of the parallel efficiency. Empty if the
    /// run does not store the parts.
    Frame parts = {};
    double start_up_s = stats::kNone;
    Frame advice = {};  ///< options to try, the largest upper bound of the savings first
    std::vector<Caveat> caveats = {};  ///< of the run's numbers
};
/// Options to try, the largest upper bound of the savings first. For this folder only.
Frame advice_for(const model::Steps& all, Cause cause);
/// `run` is a training run with samples.
Diagnosis diagnose(const results::Run& run);
/// Also compares a --mode dp run with the file's newest run that has one rank per replica.
Diagnosis diagnose(const results::Run& run, const results::ResultFile& file);

/// The first option to try with its bounds: "--workers 4 saves at most 40 % of the time per
/// sample"; "" if there is none.
std::string advice_text(const Diagnosis& found);
std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
