// How large the samples of a run become, and what is said before they are made.
#pragma once

#include <cstdint>
#include <string>

#include "results/kept_samples.hpp"

namespace ranklab::app {

/// About the bytes of a run's samples and of what is kept of its ranks; `rows`: steps or repetitions.
std::uint64_t samples_bytes(results::KeptSamples kept, std::uint64_t ranks, std::uint64_t rows);

/// "" below 256 MiB. Otherwise one sentence with their size, and with the value of --keep-samples that makes
/// it much smaller, where one does. `what`: the rows' name, "steps".
std::string many_samples(results::KeptSamples kept, std::uint64_t ranks, std::uint64_t rows,
                         const std::string& what);

}  // namespace ranklab::app
