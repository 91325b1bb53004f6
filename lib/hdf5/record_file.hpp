// The file of the HDF5 strategies, float64 datasets in the group /output: written by one process or
// through MPI-IO by all ranks of an MPI_Comm (RecordFile), and read (RecordSource). After each
// transfer the writer asks HDF5 how the data moved, since HDF5 silently falls back from collective
// to independent transfers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hdf5/object.hpp"
#include "hdf5/transfer.hpp"

namespace ranklab::hdf5 {

struct RecordFileOptions {
    /// Points to an MPI_Comm (comm::native_mpi) whose ranks all make this file; nullptr: a single
    /// process.
    const void* mpi = nullptr;
    /// Hints for MPI-IO.
    std::vector<std::pair<std::string, std::string>> hints = {};
    /// Objects of at least this many bytes begin at multiples of it.
    std::uint64_t alignment = 1;
    /// Allocates a dataset when it is made, as HDF5 always does through MPI-IO.
    bool early_allocation = true;
    bool fill = false;                ///< write zeros when a dataset is allocated
    bool collective_metadata = true;  ///< all ranks write metadata together
    /// All ranks open datasets together, and one reads the metadata for all.
    bool collective_opening = true;
    /// Uses the library's newest format, otherwise one that HDF5 1.8 reads, like h5py.
    bool latest_format = false;
};

/// A box of a dataset, one start and count per dimension; empty if a count is 0.
struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

class RecordFile {
  public:
    /// Replaces an existing file. Throws EnvironmentError if several ranks write and this HDF5 has
    /// no MPI, OptionError for a hint that MPI refuses.
    RecordFile(const std::filesystem::path& path, const RecordFileOptions& options);
    /// Abandons a file that was not closed: later writes go nowhere. A file of several ranks stays
    /// open in the library, since closing is collective and other ranks may not come.
    ~RecordFile();

    /// Collective. Makes the dataset /output/NAME and closes it, to save memory. `chunk` has the
    /// edges of chunks, clipped to the shape; if it or the dataset is empty, the dataset is
    /// contiguous.
    void make(const std::string& name, std::span<const std::int64_t> shape,
              std::span<const std::int64_t> chunk);
    Object open(const std::string& name) const;
    /// Writes the box, row-major. With Requested::collective all ranks of the file must call it for
    /// the same dataset, with disjoint boxes. Throws EnvironmentError if there is no space.
    void write(const Object& dataset, const Box& box, std::span<const double> values,
               Requested requested);

    void close();
    /// fsync, to be called after close(): this node's cached part of the file reaches the device.
    void sync();

    /// The number of this rank's write() calls by outcome.
    const std::map<Transfer, std::int64_t>& transfers() const { return transfers_; }
    /// describe_mpi_io() of the file; empty without MPI.
    const std::vector<std::pair<std::string, std::string>>& mpi_io() const { return mpi_io_; }

  private:
    void open_file(const RecordFileOptions& options);

    std::string path_;
    bool parallel_;
    bool early_allocation_;
    bool fill_;
    std::uint64_t device_ = 0, inode_ = 0;  // of the open file
    Id file_;
    Id group_;
    Id independent_;
    Id collective_;
    std::map<Transfer, std::int64_t> transfers_;
    std::vector<std::pair<std::string, std::string>> mpi_io_;
};

class RecordSource {
  public:
    /// Throws DataError if the file is missing, cut off or not HDF5.
    explicit RecordSource(const std::filesystem::path& path);

    /// Opens the dataset /output/NAME. Throws DataError unless it holds float64 of this shape.
    Object open(const std::string& name, std::span<const std::int64_t> shape) const;
    /// Reads the whole dataset, row-major.
    void read(const Object& dataset, std::span<double> values) const;
    /// Reads the plane [index, :, :] of a three-dimensional dataset.
    void read_plane(const Object& dataset, std::int64_t index, std::span<double> values) const;

  private:
    std::string path_;
    Id file_;
};

}  // namespace ranklab::hdf5
