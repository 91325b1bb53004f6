// Why a training run is slow: what binds its step, and what to try (docs/why.md).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "report/frame/frame.hpp"
#include "report/predict/mechanism.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::diagnosis {

/// The parts of a mean step, in seconds; of the loader all threads of a rank together.
struct Parts {
    /// Levels, each at least the one before: the mean rank's computing; that of the node with most
    /// of it; of the rank with most; with its wait for samples; all steps where a sum takes no
    /// time; the measured steps. A loss is the difference of two neighbours; their factors, a level
    /// over the next one, multiply to parallel().
    enum Loss : std::size_t { between_nodes, within_node, input, serialisation, transfer, kLosses };
    std::array<double, kLosses + 1> level_s{};
    double update_s = 0, reading_s = 0, decoding_s = 0;  ///< decoding and augmenting take a core

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
    /// Neither the sum of the gradients nor the update depend on the batch.
    double fixed_s() const { return update_s + lost_s(transfer); }
    double percent_of(double seconds) const { return 100 * seconds / step_s(); }
};
/// Those of counted steps, at least one; the run has the samples of each rank.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step);

struct Diagnosis {
    std::string run = {};                          ///< its id
    std::string bound = {}, cause = {}, why = {};  ///< words of docs/why.md; a sentence
    /// A row a part of the mean step, with its factor of the parallel efficiency, that of the step;
    /// without rows where the run does not store them.
    Frame parts = {};
    double start_up_s = stats::kNone;
    Frame advice = {};  ///< at most three rows: sure gains first, the largest first
};
/// `run`: of train, with its samples. `cap`: the best bucket cap for it, where that is known.
Diagnosis diagnose(const results::Run& run, const std::optional<predict::CapAdvice>& cap = {});
/// With the bucket cap that the file's runs forecast, where the network limits.
Diagnosis diagnose(const results::Run& run, const results::ResultFile& file);

std::string text_of(const Diagnosis& found);
/// One line.
std::string json_of(const Diagnosis& found);
std::string html_of(const Diagnosis& found);

}  // namespace ranklab::report::diagnosis
