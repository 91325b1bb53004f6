// Ceilings: the rates of plain system calls, measured in the same run with the same bytes and files
// by the strategy's ranks, and the share of them that a strategy reaches. docs/writing.md.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/io_times.hpp"
#include "comm/communicator.hpp"
#include "io/strategy.hpp"

namespace ranklab::io {

/// write_own: write() of each record to a file of its own. write_shared: pwrite() to one file of
/// all ranks. create: open() of new files, and close() of the written ones.
enum class CeilingKind { write_own, write_shared, create };
/// "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

/// `amount`: bytes, or files (create), over all ranks. `seconds`: time of the slowest rank.
struct Ceiling {
    double amount = 0;
    double seconds = 0;

    double per_second() const { return seconds > 0 ? amount / seconds : 0; }
};

/// Holds only kinds that apply to the strategy and have a rate above 0.
using Ceilings = std::map<CeilingKind, Ceiling>;

/// Writes the job's bytes as the strategy's `ranks` do, to files with names of their own, and
/// removes them untimed, also after an error. `between` is called after each record and may throw
/// base::Interrupted. If a rank fails, all throw. Collective.
Ceilings measure_ceilings(comm::Communicator& ranks, const Job& job, const StrategyEntry& strategy,
                          const std::function<void()>& between);

/// Seconds to compare with a ceiling: of the phases write and fsync, or open and close.
double writing_s(const base::IoTimes& times);
double creating_s(const base::IoTimes& times);

/// The highest rate of each kind.
Ceilings best_of(std::span<const Ceilings> measured);

/// Seconds of the strategy's slowest process.
struct StrategyTimes {
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
};

/// The share of a ceiling that a strategy reached.
struct CeilingShare {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;   ///< the strategy's amount at the ceiling's rate
    double strategy_s = 0;  ///< create_s for create, otherwise write_s
    double percent = 0;     ///< 100 ceiling_s / strategy_s
    std::string mark;       ///< why the ceiling is not the limit (base::kMostOfCeiling), or ""
    bool nearest = false;   ///< has the longest ceiling_s of the possible limits
};

/// Returns one share per measured ceiling that applies to the strategy.
std::vector<CeilingShare> shares_of(const Ceilings& ceilings, const Job& job,
                                    const StrategyEntry& strategy, const StrategyTimes& times);

}  // namespace ranklab::io
