// Ceilings: the rates of plain system calls, measured in the same run with the same bytes and files
// by the strategy's ranks, and the share of them that a strategy reaches. docs/writing.md.
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
/// all ranks. create: open() of new files, and close() of the written ones.
enum class CeilingKind { write_own, write_shared, create };
/// "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

/// `amount` bytes, or files (create), took the slowest rank `seconds`.
struct Ceiling {
    double amount = 0;
    double seconds = 0;

    double per_second() const { return seconds > 0 ? amount / seconds : 0; }
};

/// Without kinds that do not apply or had nothing to do.
using Ceilings = std::map<CeilingKind, Ceiling>;

struct CeilingWork {
    std::filesystem::path directory;     ///< in which the strategy writes
    std::int64_t records = 0;            ///< of all ranks, each its base::share_of
    std::uint64_t bytes_per_record = 0;  ///< size of each write()
    /// write_shared: each rank writes its block of this many rows of every record. 0: each rank
    /// writes its share of the records.
    std::int64_t rows = 0;
    /// Call fsync after each record (write_own) or at the end (write_shared), as strategies do.
    bool fsync = false;
    bool shared_file = false;  ///< write_shared; otherwise write_own and create
    /// Called after each record; may throw base::Interrupted.
    std::function<void()> between = [] {};
};

/// Writes files with names of their own, and removes them untimed, also after an error. If a rank
/// fails, all throw. Collective.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

/// Sums of phases that compare with ceilings: write and fsync; open and close.
double writing_s(const base::IoTimes& times);
double creating_s(const base::IoTimes& times);

/// The highest rate of each kind.
Ceilings best_of(std::span<const Ceilings> measured);

/// What a strategy wrote. Seconds of the slowest process.
struct StrategyEffort {
    double records = 0;
    double bytes = 0;
    bool shared_file = false;
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
    int workers = 1;      ///< processes per rank that write at the same time
};

/// The share of a ceiling that a strategy reached.
struct CeilingShare {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;   ///< the strategy's amount at the ceiling's rate
    double strategy_s = 0;  ///< create_s for create, otherwise write_s
    double percent = 0;     ///< 100 ceiling_s / strategy_s
    std::string mark;      ///< why the ceiling is not the limit (above base::kMostOfCeiling); or ""
    bool nearest = false;  ///< has the longest ceiling_s
};

/// One per measured ceiling that applies to the strategy.
std::vector<CeilingShare> shares_of(const Ceilings& ceilings, const StrategyEffort& strategy);

}  // namespace ranklab::io
