// The records that a strategy writes, and the reader that reads them back.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "hdf5/dataset_file.hpp"

namespace ranklab::io {

/// files: a dataset per record. single: one dataset [files, size, size].
enum class Layout { files, single };

struct Job {
    std::int64_t files = 15;  ///< number of records
    std::int64_t size = 100;  ///< a record is size x size float64
    int workers = 1;          ///< worker processes (StrategyEntry::uses_workers)
    bool async = false;    ///< assign tasks without waiting for each result (StrategyEntry::async)
    bool dynamic = false;  ///< ranks request the next chunk (StrategyEntry::dynamic)
    std::int64_t chunk_files = 1;  ///< with `dynamic`: records in a chunk
    bool fsync = false;
    bool rename = false;  ///< a file has a temporary name until it is complete
    bool trace = false;   ///< workers report when each phase began and ended

    std::filesystem::path directory;  ///< must exist before open()
    /// Program of the worker processes; empty: ranklab-io-worker next to this program.
    std::filesystem::path worker_program;

    // Used by the HDF5 strategies only.
    Layout layout = Layout::files;
    std::int64_t chunk = 0;  ///< edge of square chunks; 0: contiguous
    /// The strategy sets `mpi`. Data begin at multiples of a cache line, 64 bytes: at other offsets
    /// the kernel copies a fifth slower (docs/writing.md).
    hdf5::DatasetFileOptions hdf5{.alignment = 64};

    std::int64_t values_per_record() const { return size * size; }
};

/// Reads records back on one rank, without collectives.
class Reader {
  public:
    virtual ~Reader() = default;
    /// Reads the size x size values of record `id`. Throws DataError if the file has fewer or more
    /// values, or is damaged.
    virtual void read(std::int64_t id, std::span<double> values) = 0;
};

/// "data00042": at least five digits, as in the original program.
inline std::string record_name(std::int64_t id) {
    return fmt::format("data{:05}", id);
}
/// The file's name until it is complete (--rename): ".data00042.npy.tmp" in the same folder.
inline std::filesystem::path temporary_of(const std::filesystem::path& path) {
    return path.parent_path() / fmt::format(".{}.tmp", path.filename().string());
}

}  // namespace ranklab::io
