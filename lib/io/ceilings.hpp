// What this machine can do at most, measured in the same run with the same bytes, files and writers: each
// strategy is compared with the ceiling that binds it. docs/writing.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "comm/communicator.hpp"
#include "io/raw_writer.hpp"

namespace ranklab::io {

/// memory_copy: memcpy between buffers larger than the caches, all writers at once. write_own: write() of
/// each record to a file of its own. write_shared: pwrite() to one file of all ranks, each rank its part.
/// create: open() of the new files, and close() when they are written.
enum class CeilingKind { memory_copy, write_own, write_shared, create };
inline constexpr std::array kCeilingKinds{CeilingKind::memory_copy, CeilingKind::write_own,
                                          CeilingKind::write_shared, CeilingKind::create};
/// "memory copy", "raw write()", "raw pwrite()", "file creation"
std::string_view name_of(CeilingKind kind);

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
    std::int64_t records = 0;            ///< shared out to the writers by base::share_of
    std::uint64_t bytes_per_record = 0;  ///< in the file: also the size of each write()
    /// Of write_shared: 0: each rank its part of the records; else how many rows a record has, of which each
    /// rank writes its block, of every record.
    std::int64_t rows = 0;
    bool fsync = false;  ///< after each record of write_own, at the end of write_shared: as the strategies
    bool memory_copy = true;   ///< takes up to 128 MiB of memory per writer meanwhile
    bool shared_file = false;  ///< write_shared; otherwise write_own and create
    /// Processes that write at the same time for this rank, which is alone then; 1: the ranks themselves do.
    int workers = 1;
    std::filesystem::path worker_program;  ///< as Job's
    std::function<void()> between;  ///< called every MiB or record or so, if set; may throw base::Interrupted
};

/// Called by all of `ranks`. The files have names of their own in the directory and are gone afterwards,
/// after an error too; the disk holds records * bytes_per_record once meanwhile. Where a rank fails (no room,
/// the folder is gone: EnvironmentError, OptionError) all throw, as comm::together has it. Made before the
/// clock starts: the buffers, which are touched, and the processes. A fresh file's pages are taken from the
/// kernel while it is written, as in the strategies. Removal is not timed.
Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work);

/// The part of measure_ceilings that is made by worker processes. Private to this room.
Ceilings measure_by_workers(const CeilingWork& work);

}  // namespace ranklab::io
