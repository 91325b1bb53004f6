// Which of the measured ceilings binds a strategy, and how much of it the strategy reaches: pure functions.
// docs/writing.md.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "io/ceilings.hpp"

namespace ranklab::io {

/// Of each kind the highest rate: what the machine could do at its best. A page cache has good and bad
/// moments, so a strategy is compared by its own best (StrategyEffort).
Ceilings best_of(std::span<const Ceilings> measured);

/// A strategy's writing, over all ranks and worker processes. Seconds are those of the slowest of them.
struct StrategyEffort {
    double records = 0;
    double bytes = 0;
    bool shared_file = false;
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
    int writers = 1;      ///< that write at the same time
    int measured = 1;     ///< how often the ceilings were, of which the best are compared with
};

struct BindingCeiling {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;   ///< amount of the strategy / ceiling's rate
    double strategy_s = 0;  ///< create_s for create, write_s for all others
    double percent = 0;     ///< 100 ceiling_s / strategy_s
    std::string mark;       ///< above base::kMostOfCeiling: why that does not bind; otherwise ""
};

/// The ceiling that binds a strategy is the one under which its work takes longest: bytes / rate of
/// memory_copy, of write_own (write_shared for a shared file), records / rate of create (files of their own
/// only: the one shared file is not worth a rate). nullopt where none is known or the strategy did nothing.
std::optional<BindingCeiling> binding_ceiling(const Ceilings& ceilings, const StrategyEffort& strategy);

/// The same for one kind, to be shown beside it: nullopt where that ceiling does not apply or is not known.
std::optional<BindingCeiling> share_of_ceiling(CeilingKind kind, const Ceilings& ceilings,
                                               const StrategyEffort& strategy);

}  // namespace ranklab::io
