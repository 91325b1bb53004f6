// The records to write, equal for all strategies of the ladder, and the ranks that read them back.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ranklab::io {

/// files: a dataset per record. single: one dataset [n, size, size].
enum class Layout { files, single };

/// Settings of the parallel-HDF5 strategies and, where they apply, of hdf5-serial.
struct Hdf5Settings {
    Layout layout = Layout::files;
    std::int64_t chunk = 0;  ///< edge of square chunks of a record; 0: contiguous
    /// Objects of at least this many bytes begin at its multiples; 1: none. The default is a cache
    /// line: the kernel copies to other places a fifth slower (docs/writing.md).
    std::uint64_t alignment = 64;
    std::vector<std::pair<std::string, std::string>> hints;  ///< MPI-IO's, in the order given
    bool early_allocation = true;
    bool fill = false;  ///< datasets are filled with zeros when their room is allocated
    bool collective_metadata = true;
    bool latest_format = false;
};

struct Job {
    std::int64_t files = 15;  ///< n, records
    std::int64_t size = 100;  ///< a record is size x size float64
    int workers = 1;          ///< processes of the process strategies
    /// For process-pool: hands out tasks without waiting for each result.
    bool async = false;
    bool dynamic = false;          ///< mpi-send: ranks ask for the next chunk
    std::int64_t chunk_files = 1;  ///< of --dynamic: records handed out at a time
    bool fsync = false;
    bool rename = false;  ///< give a file a temporary name until it is whole

    std::filesystem::path directory;  ///< exists when a strategy is opened
    /// The worker program of the process strategies; empty: ranklab-io-worker next to this one.
    std::filesystem::path worker_program;
    Hdf5Settings hdf5;

    std::int64_t values_per_record() const { return size * size; }
};

/// Reads records back, one after the other, on one rank alone: no collectives.
class Reader {
  public:
    virtual ~Reader() = default;
    /// Reads the size x size values of record `id` as they lie in the file. DataError where there
    /// are fewer or more, or the file is faulty.
    virtual void read(std::int64_t id, std::span<double> values) = 0;
};

/// "data00042" and an ending: the names that the original gives (at least five digits).
inline std::string record_name(std::int64_t id) {
    return fmt::format("data{:05}", id);
}
/// The file's name with --rename until it is whole: ".data00042.npy.tmp" in its folder.
inline std::filesystem::path temporary_of(const std::filesystem::path& path) {
    return path.parent_path() / fmt::format(".{}.tmp", path.filename().string());
}

}  // namespace ranklab::io
