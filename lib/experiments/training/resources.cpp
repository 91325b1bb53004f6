#include "experiments/training/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/made_for.hpp"
#include "experiments/training/model_of.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"

namespace ranklab::experiments {
namespace {

// A step's samples, as they are computed with, and the batches made ahead, of a byte an element at least.
void check_memory(const TrainingOptions& options) {
    const auto sample = static_cast<double>(memory_of(options).sample_bytes);
    const auto batch = static_cast<double>(*options.settings.batch_size);
    const double ahead = options.input.workers > 0 ? 1.0 + options.input.prefetch : 1.0;
    const double needed = batch * sample * (1 + ahead / sizeof(float));
    const auto there = static_cast<double>(host::memory_bytes());
    if (there == 0 || needed <= there) return;
    throw base::EnvironmentError(fmt::format(
        "{} samples a step and {:.0f} batches of them need {} for inputs and targets alone, and this "
        "host has {}; use a smaller --batch-size{}",
        *options.settings.batch_size, ahead, base::human_bytes(needed), base::human_bytes(there),
        ahead > 1 ? ", or a smaller --prefetch" : ""));
}

}  // namespace

int compute_threads(const TrainingOptions& options) {
    return options.common.threads.has_value() ? static_cast<int>(*options.common.threads)
                                              : std::max(1, host::cores_in(host::cpuset()));
}

void check_resources(const TrainingOptions& options, const RunContext& around) {
    auto& control = around.control;
    comm::together(control, [&] {
        if (control.rank() == 0)
            check_made_for(options.settings, options.has_own_batch, control.world_size(), memory_of(options));
        check_memory(options);
    });
}

}  // namespace ranklab::experiments
