#include "experiments/shared/doubts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "results/vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

// NaN where the run does not say it.
double fact_of(const results::Run& run, const char* section, const char* key) {
    for (const auto& fact : run.context)
        if (fact.section == section && fact.key == key) return std::strtod(fact.value.c_str(), nullptr);
    return stats::kNone;
}

void doubt_batch(results::Run& run) {
    const std::string batch = run.setting("global-batch-size");
    const double samples = fact_of(run, "training", "train_samples");
    if (batch.empty() || !(std::strtod(batch.c_str(), nullptr) > samples)) return;
    run.warnings.push_back(fmt::format(
        "the batch of all ranks, {}, is larger than the data set, {:.0f} samples: no step is a full one; "
        "take a smaller --batch-size or more data",
        batch, samples));
}

// Of a run that was resumed the first epoch lies in an earlier one.
void doubt_validation(results::Run& run) {
    const auto* epochs = run.find_table("epochs");
    const auto* accuracy = run.find(vocabulary::kAccuracy);
    const auto* loss = run.find(vocabulary::kTestLoss);
    if (epochs == nullptr || (accuracy == nullptr && loss == nullptr)) return;
    const auto* number = epochs->find<std::int64_t>("epoch");
    const auto* made = epochs->find<std::int64_t>("steps");
    const auto* whole = epochs->find<std::int64_t>("steps_per_epoch");
    if (number == nullptr || made == nullptr || whole == nullptr || number->size() != 1) return;
    if (number->front() != 1 || made->front() >= whole->front()) return;
    run.warnings.push_back(fmt::format(
        "the model was validated after {} of the {} steps of its first epoch: its accuracy and loss are no "
        "result; train longer (--epochs 1)",
        made->front(), whole->front()));
}

}  // namespace

void add_doubts(results::Run& run) {
    doubt_batch(run);
    doubt_validation(run);
}

}  // namespace ranklab::experiments
