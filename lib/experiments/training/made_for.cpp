#include "experiments/training/made_for.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::TrainingSettings;

// Fewer than it is made for, and nobody said how they shall make the batch.
bool is_short_of_ranks(const TrainingSettings& settings, bool has_own_batch, int world_size) {
    return settings.made_for_ranks && world_size < *settings.made_for_ranks && !has_own_batch &&
           settings.accumulate <= 1;
}

/// The fewest micro-batches that are no larger than those of the job it was made for, and divide.
std::int64_t parts_for(const TrainingSettings& settings, int world_size) {
    const std::int64_t local = *settings.batch_size;
    const std::int64_t meant = std::max<std::int64_t>(1, local * world_size / *settings.made_for_ranks);
    std::int64_t parts = (local + meant - 1) / meant;
    while (local % parts != 0) ++parts;
    return parts;
}

}  // namespace

std::string made_for_note(const TrainingSettings& settings, bool has_own_batch, int world_size) {
    if (!settings.made_for_ranks) return "";
    const std::string note = fmt::format("made for {} ranks", *settings.made_for_ranks);
    if (!is_short_of_ranks(settings, has_own_batch, world_size)) return note;
    return fmt::format("{}; on {} give --accumulate {} or --batch-size N", note, world_size,
                       parts_for(settings, world_size));
}

void check_made_for(const TrainingSettings& settings, bool has_own_batch, int world_size,
                    const RankMemory& memory) {
    if (!is_short_of_ranks(settings, has_own_batch, world_size)) return;
    const std::int64_t local = *settings.batch_size;
    const auto bytes = [](std::int64_t count) { return base::human_bytes(static_cast<double>(count)); };
    throw base::OptionError(fmt::format(
        "this configuration is made for {} ranks; on {} each would take {} samples a step: {} x {} = {} of "
        "inputs and targets, beside {} of parameters and gradients and what forward keeps of each sample; "
        "give --accumulate {} to make the same global batch in micro-batches, or --batch-size N for a "
        "smaller one",
        *settings.made_for_ranks, world_size, local, local, bytes(memory.sample_bytes),
        bytes(local * memory.sample_bytes), bytes(memory.model_bytes), parts_for(settings, world_size)));
}

}  // namespace ranklab::experiments
