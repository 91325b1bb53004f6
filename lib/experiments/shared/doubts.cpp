#include "experiments/shared/doubts.hpp"

#include <fmt/format.h>

#include <string>

namespace ranklab::experiments {
namespace {

void doubt_batch(results::Run& run) {
    const std::string batch = run.setting("global-batch-size");
    const std::string samples = run.fact("training", "train_samples");
    if (batch.empty() || samples.empty() || !(std::stod(batch) > std::stod(samples))) return;
    run.warnings.push_back(fmt::format(
        "the batch of all ranks, {}, is larger than the data set, {} samples: no step is a full one; "
        "take a smaller --batch-size or more data",
        batch, samples));
}

}  // namespace

void add_doubts(results::Run& run) {
    doubt_batch(run);
}

}  // namespace ranklab::experiments
