// Why a training run is slow: what limits its step, and what to try (docs/why.md).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "report/frame/frame.hpp"
#include "report/predict/mechanism.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::diagnosis {

/// The parts of a mean step, in seconds. Loader times are summed over a rank's threads.
struct Parts {
    /// Six times, in ascending order: 0 computing, mean over ranks; 1 computing of the node with
    /// most computing; 2 computing of the rank with most; 3 computing and wait for samples, of the
    /// rank with most of both; 4 the step if sums of gradients took no time; 5 the measured step.
    /// Loss i is level i + 1 minus level i. Factor i is level i over level i + 1; all factors
    /// multiply to parallel().
    enum Loss : std::size_t { between_nodes, within_node, input, serialisation, transfer, kLosses };
    std::array<double, kLosses + 1> level_s{};
    double update_s = 0, reading_s = 0, decoding_s = 0;  ///< decoding_s: with augmenting

    double computing_s() const { return level_s.front(); }
    double step_s() const { return level_s.back(); }
    double parallel() const { return level_s.front() / level_s.back(); }
    double lost_s(Loss loss) const { return level_s[loss + 1] - level_s[loss]; }
    Loss largest_loss() const;
    double factor(Loss loss) const { return level_s[loss] / level_s[loss + 1]; }
    double imbalance_s() const {
        return lost_s(between_nodes) + lost_s(within_node) + lost_s(serialisation);
    }
    double loader_s() const { return reading_s + decoding_s; }
    /// Time that does not depend on the batch: summing gradients and updating parameters.
    double fixed_s() const { return update_s + lost_s(transfer); }
    double percent_of(double seconds) const { return 100 * seconds / step_s(); }
};
/// The parts of the counted steps first_step .. end_step - 1, at least one. The run must have the
/// samples of each rank.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step);

struct Diagnosis {
    std::string run = {};                          ///< its id
    std::string bound = {}, cause = {}, why = {};  ///< two words of docs/why.md; a sentence
    /// A row per part of the mean step, with its factor of the parallel efficiency, and a row for
    /// the step. No rows if the run did not store the parts.
    Frame parts = {};
    double start_up_s = stats::kNone;
    Frame advice = {};  ///< at most three rows: measured gains, then bounds, the largest first
};
/// `run`: a training run with its samples. `cap`: the best bucket cap for it, if known.
Diagnosis diagnose(const results::Run& run, const std::optional<predict::CapAdvice>& cap = {});
/// If communication limits the run, also forecasts the best bucket cap from the file's runs.
Diagnosis diagnose(const results::Run& run, const results::ResultFile& file);

std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
