// Configurations that are meant for more ranks than were started. No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {

/// What a rank of a training run holds at least.
struct RankMemory {
    std::int64_t sample_bytes = 0;  ///< input and target of one sample, as the model takes them
    std::int64_t model_bytes = 0;   ///< parameters and gradients
};

/// "made for 288 ranks" with what a smaller job needs; "" without --made-for-ranks.
std::string made_for_note(const vocabulary::TrainingSettings& settings, bool has_own_batch, int world_size);

/// OptionError with the arithmetic where fewer ranks than --made-for-ranks would each take a larger part of
/// the global batch, and neither --accumulate nor --batch-size says how they shall.
void check_made_for(const vocabulary::TrainingSettings& settings, bool has_own_batch, int world_size,
                    const RankMemory& memory);

}  // namespace ranklab::experiments
