// What this machine can do at most, measured in the same run with the same bytes and ranks: each rung is
// compared with the ceiling that binds it. docs/io_cache.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "comm/communicator.hpp"

namespace ranklab::io {

/// memory_copy: memcpy between buffers larger than the caches, all ranks at once. write_own: write() to one
/// file per rank. write_shared: pwrite() to one file of all ranks, each its contiguous part. create: open()
/// of new files and close().
enum class CeilingKind { memory_copy, write_own, write_shared, create };
std::string_view name_of(
    CeilingKind kind);  ///< "memory copy", "raw write()", "raw pwrite()", "file creation"

/// `amount` (bytes; files for create) of all ranks took `seconds`: of the slowest rank.
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
};

struct CeilingWork {
    std::filesystem::path directory;     ///< where the rungs write
    std::int64_t records = 0;            ///< shared out to the ranks as the rungs do (base::share_of)
    std::uint64_t bytes_per_record = 0;  ///< in the file: also the size of each write()
    bool fsync = false;       ///< after each record of write_own, at the end of write_shared: as the rungs
    bool memory_copy = true;  ///< takes up to 512 MiB of memory per rank meanwhile
    bool write_own = true;
    bool write_shared = true;
    std::function<void()> between;  ///< called between records, if set; may throw base::Interrupted
};

/// Called by all of `ranks`. The files have names of their own in the directory and are gone afterwards,
/// after an error too; the disk holds records * bytes_per_record once meanwhile. Where a rank fails (no room,
/// the folder is gone: EnvironmentError, OptionError) all throw, as comm::together has it. Made before the
/// clock starts: the buffers, which are touched, and the open files. A fresh file's pages are taken from the
/// kernel while it is written, as in the rungs. Removal is not timed.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

/// Of each kind the higher rate: measured twice, the ceiling is what could be reached.
Ceilings best_of(const Ceilings& a, const Ceilings& b);

/// A rung's writing, over all ranks and worker processes. Seconds are those of the slowest of them.
struct RungEffort {
    double records = 0;
    double bytes = 0;
    bool shared_file = false;
    double write_s = 0;   ///< phases write and fsync
    double create_s = 0;  ///< phases open and close
};

struct BindingCeiling {
    CeilingKind kind = CeilingKind::write_own;
    double ceiling_s = 0;  ///< amount of the rung / ceiling's rate
    double rung_s = 0;     ///< create_s for create, write_s for all others
    double percent =
        0;  ///< 100 ceiling_s / rung_s: above 100 where the rung was faster than the ceiling's run
};

/// The ceiling that binds a rung is the one under which its work takes longest: bytes / rate of memory_copy,
/// of write_own (write_shared for a shared file), records / rate of create (files of their own only: the one
/// shared file is not worth a rate). nullopt where none is known or the rung did nothing.
std::optional<BindingCeiling> binding_ceiling(const Ceilings& ceilings, const RungEffort& rung);

/// The same for one kind, to be shown beside it: nullopt where that ceiling does not apply or is not known.
std::optional<BindingCeiling> share_of_ceiling(CeilingKind kind, const Ceilings& ceilings,
                                               const RungEffort& rung);

}  // namespace ranklab::io
