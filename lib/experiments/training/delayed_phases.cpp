#include "experiments/training/delayed_phases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers.hpp"

namespace ranklab::experiments {
namespace {

// A minute: a longer one is a slip of the keyboard, and nothing wakes a rank that sleeps.
constexpr double kMostMs = 60000;

}  // namespace

std::optional<Delay> parse_delay(const std::string& text, int world_size) {
    if (text.empty()) return std::nullopt;
    const auto parts = base::split(text, ':');
    const auto refuse = [&](const std::string& why) {
        throw base::OptionError(
            fmt::format("--inject-delay {}: {}; give RANK:PHASE:MS, as 1:backward:50, with a phase of {}",
                        base::printable(text, 60), why, fmt::join(base::kPhaseNames, ", ")));
    };
    if (parts.size() != 3) refuse("it has not three parts");
    const auto rank = base::number_in<int>(parts[0]);
    const auto ms = base::number_in<double>(parts[2]);
    const auto phase = std::find(base::kPhaseNames.begin(), base::kPhaseNames.end(), parts[1]);
    if (!rank || *rank < 0 || *rank >= world_size)
        refuse(fmt::format("there is no rank '{}' among {}", base::printable(parts[0], 20), world_size));
    if (phase == base::kPhaseNames.end()) refuse("there is no such phase");
    if (!ms || !(*ms >= 0 && *ms <= kMostMs))
        refuse(fmt::format("the delay is not a number of milliseconds up to {:.0f}", kMostMs));
    return Delay{*rank, static_cast<base::Phase>(phase - base::kPhaseNames.begin()), *ms};
}

}  // namespace ranklab::experiments
