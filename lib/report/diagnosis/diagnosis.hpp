// Names what bounds the step of a training run, and options to try (docs/why.md).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/predict/mechanism.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::diagnosis {

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
/// The mean over the counted steps from `first_step` up to `end_step`. Requires the samples of each
/// rank. Without steps, the parts of the table `waterfall`. `core_share`: the share of the waits
/// for cores that counts as a loss, the rest as computing.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step,
               double core_share = 1);

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
    replicas,
    transfer,
    small_batch,
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
    Frame advice = {};  ///< options to try: known savings before upper bounds, the largest first
    std::vector<Caveat> caveats = {};  ///< of the run's numbers
};
/// `run` is a training run with samples. `cap`: the best bucket cap by forecast, if known.
Diagnosis diagnose(const results::Run& run, const std::optional<predict::CapAdvice>& cap = {});
/// If summing gradients is the bound, forecasts the best bucket cap from the file's runs; a run of
/// --mode dp is compared with the file's newest run of a rank per replica.
Diagnosis diagnose(const results::Run& run, const results::ResultFile& file);

/// The first option to try with its bounds: "--workers 4 saves at most 40 % of the time per
/// sample";
/// "" if there is none.
std::string advice_text(const Diagnosis& found);
std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
