// The machine's highest rates, measured in the same run with the same bytes and files by the ranks of
// the strategy, and how much of it a strategy reaches. docs/writing.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/io_times.hpp"
#include "comm/communicator.hpp"

namespace ranklab::io {

/// memory_copy: memcpy between buffers larger than the caches, all ranks at once. write_own: write() of
/// each record to a file of its own. write_shared: pwrite() to one file of all ranks, each rank its part.
/// create: open() of the new files, and close() when they are written.
enum class CeilingKind { memory_copy, write_own, write_shared, create };
inline constexpr std::array kCeilingKinds{CeilingKind::memory_copy, CeilingKind::write_own,
                                          CeilingKind::write_shared, CeilingKind::create};
/// "memory copy", "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

/// `amount` (bytes; files of a ceiling of creation) took `seconds`: of several ranks the slowest's.
struct Ceiling {
    double amount = 0;
    double seconds = 0;

    bool known() const { return amount > 0 && seconds > 0; }
    double per_second() const { return known() ? amount / seconds : 0; }
};

/// What was not asked for, or had nothing to do, is not known().
struct Ceilings {
    Ceiling memory_copy;
    Ceiling write_own;
    Ceiling write_shared;
    Ceiling create;

    const Ceiling& of(CeilingKind kind) const;
    Ceiling& of(CeilingKind kind);
};

struct CeilingWork {
    std::filesystem::path directory;     ///< where the strategies write
    std::int64_t records = 0;            ///< shared out to the ranks by base::share_of
    std::uint64_t bytes_per_record = 0;  ///< in the file: also the size of each write()
    /// Of write_shared: 0: each rank its part of the records; else how many rows a record has, of which each
    /// rank writes its block, of every record.
    std::int64_t rows = 0;
    bool fsync = false;  ///< after each record of write_own, at the end of write_shared: as the strategies
    bool memory_copy = true;        ///< takes up to 128 MiB of memory per rank meanwhile
    bool shared_file = false;       ///< write_shared; otherwise write_own and create
    std::function<void()> between;  ///< called every MiB or record or so, if set; may throw base::Interrupted
};

/// Collective. The files have names of their own in the directory and are gone afterwards, after an error
/// too. Where a rank fails all throw. Buffers are touched before the clock starts; removal is not timed.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

/// The two that a strategy's phases are held against: write and fsync; open and close.
double writing_s(const base::IoTimes& times);
double creating_s(const base::IoTimes& times);

/// The highest rate of each kind: a strategy is compared by its own best.
Ceilings best_of(std::span<const Ceilings> measured);

/// A strategy's writing, over all ranks and worker processes. Seconds are those of the slowest of them.
struct StrategyEffort {
    double records = 0;
    double bytes = 0;
    bool shared_file = false;
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
    int workers = 1;      ///< processes of a rank that write at the same time
};

struct BindingCeiling {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;   ///< amount of the strategy / ceiling's rate
    double strategy_s = 0;  ///< create_s for create, write_s for all others
    double percent = 0;     ///< 100 ceiling_s / strategy_s
    std::string mark;       ///< above base::kMostOfCeiling: that it does not bind; otherwise ""
};

/// The ceiling under which the strategy's work takes longest: nullopt where none is known or it did nothing.
std::optional<BindingCeiling> binding_ceiling(const Ceilings& ceilings, const StrategyEffort& strategy);

/// The same for one kind, to be shown beside it: nullopt where that ceiling does not apply or is not known.
std::optional<BindingCeiling> share_of_ceiling(CeilingKind kind, const Ceilings& ceilings,
                                               const StrategyEffort& strategy);

}  // namespace ranklab::io
