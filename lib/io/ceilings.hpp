// The machine's highest rates, measured in the same run with the same bytes and files by the
// strategy's ranks, and the share that a strategy reaches. docs/writing.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/io_times.hpp"
#include "comm/communicator.hpp"

namespace ranklab::io {

/// write_own: write() of each record to a file of its own. write_shared: pwrite() to one file of
/// all ranks, each rank its part. create: open() of the new files, and close() when they are
/// written.
enum class CeilingKind { write_own, write_shared, create };
/// "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

/// `amount` (bytes; files of a ceiling of creation) took `seconds`: of several ranks the slowest's.
struct Ceiling {
    double amount = 0;
    double seconds = 0;

    double per_second() const { return seconds > 0 ? amount / seconds : 0; }
};

/// Those that were measured and had something to do.
using Ceilings = std::map<CeilingKind, Ceiling>;

struct CeilingWork {
    std::filesystem::path directory;     ///< where the strategies write
    std::int64_t records = 0;            ///< shared out to the ranks by base::share_of
    std::uint64_t bytes_per_record = 0;  ///< in the file: also the size of each write()
    /// The rows of a record, of which each rank writes its block in every record; 0: each rank
    /// writes its part of the records. For write_shared.
    std::int64_t rows = 0;
    /// Calls fsync after each record of write_own, at the end of write_shared, as strategies do.
    bool fsync = false;
    bool shared_file = false;  ///< write_shared; otherwise write_own and create
    /// Called after each record; may throw base::Interrupted.
    std::function<void()> between = [] {};
};

/// Collective. The files have names of their own in the directory and are gone afterwards, after an
/// error too. Where a rank fails, all throw. Removal is not timed.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

/// The two that a strategy's phases are held against: write and fsync; open and close.
double writing_s(const base::IoTimes& times);
double creating_s(const base::IoTimes& times);

/// The highest rate of each kind: a strategy is compared by its own best.
Ceilings best_of(std::span<const Ceilings> measured);

/// A strategy's writing, over all ranks and worker processes. The seconds are those of the slowest
/// one.
struct StrategyEffort {
    double records = 0;
    double bytes = 0;
    bool shared_file = false;
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
    int workers = 1;      ///< processes of a rank that write at the same time
};

/// How much of a ceiling a strategy reached.
struct CeilingShare {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;   ///< amount of the strategy / ceiling's rate
    double strategy_s = 0;  ///< create_s for create, write_s for all others
    double percent = 0;     ///< 100 ceiling_s / strategy_s
    std::string mark;       ///< above base::kMostOfCeiling: why it is not the limit; otherwise ""
    bool nearest = false;   ///< under this one the strategy's work takes longest
};

/// One for each known ceiling that applies to the strategy.
std::vector<CeilingShare> shares_of(const Ceilings& ceilings, const StrategyEffort& strategy);

}  // namespace ranklab::io
