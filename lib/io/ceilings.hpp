// What this machine can do at most, measured in the same run with the same bytes and ranks: each rung is
// compared with the ceiling that binds it. docs/io_cache.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "comm/communicator.hpp"

namespace ranklab::io {

/// memory_copy: memcpy between buffers larger than the caches, all ranks at once. write_own: write() to one
/// file per rank. write_shared: pwrite() to one file of all ranks, each its contiguous part. create: open()
/// of new files and close().
enum class CeilingKind { memory_copy, write_own, write_shared, create };
/// "memory copy", "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

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
    std::function<void()> between;  ///< called every MiB or record or so, if set; may throw base::Interrupted
};

/// Called by all of `ranks`. The files have names of their own in the directory and are gone afterwards,
/// after an error too; the disk holds records * bytes_per_record once meanwhile. Where a rank fails (no room,
/// the folder is gone: EnvironmentError, OptionError) all throw, as comm::together has it. Made before the
/// clock starts: the buffers, which are touched, and the open files. A fresh file's pages are taken from the
/// kernel while it is written, as in the rungs. Removal is not timed.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

}  // namespace ranklab::io
