// One file of many float64 datasets in the group /output, and the reader of one (RecordSource). It
// is written by one process or by all ranks of an MPI_Comm through MPI-IO: the writing side of the
// HDF5 strategies. After each transfer it asks the library how the data moved, since HDF5 silently
// falls back from collective to independent transfers.
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

namespace ranklab::hdf5 {

enum class Requested { independent, collective };

/// The codes of HDF5: H5D_mpio_actual_io_mode_t, H5D_mpio_actual_chunk_opt_mode_t and the sets of
/// H5D_mpio_no_collective_cause_t of this rank and of all.
struct Transfer {
    Requested requested = Requested::independent;
    int io_mode = 0;
    int chunk_mode = 0;
    std::uint32_t local_cause = 0;
    std::uint32_t global_cause = 0;

    auto operator<=>(const Transfer&) const = default;

    /// Collective was asked for, and not all of it was.
    bool fell_back() const;
};

std::string requested_name(const Transfer& transfer);  ///< "independent", "collective"
/// The mode as text: "contiguous collective", "no collective", ...
std::string io_mode_name(const Transfer& transfer);
std::string chunk_mode_name(const Transfer& transfer);  ///< "none", "link chunk", "multi chunk"
/// The cause as text: "none", or HDF5's reasons joined by " + ". Those that hold on another rank
/// alone end with "(elsewhere)".
std::string cause_name(const Transfer& transfer);

struct RecordFileOptions {
    /// Points to an MPI_Comm whose ranks all make this file (comm::native_mpi); nullptr: a single
    /// process.
    const void* mpi = nullptr;
    /// Hints for MPI-IO; without MPI they have no meaning.
    std::vector<std::pair<std::string, std::string>> hints = {};
    /// Objects of at least this many bytes begin at its multiples.
    std::uint64_t alignment = 1;
    /// Allocates a dataset when it is made. Through MPI-IO HDF5 always does so.
    bool early_allocation = true;
    bool fill = false;                ///< zeros are written when a dataset is allocated
    bool collective_metadata = true;  ///< metadata is written by all ranks together
    /// All ranks open datasets together, and one reads the metadata for all.
    bool collective_opening = true;
    /// Uses the newest format of this library; else one that HDF5 1.8 reads, as h5py does.
    bool latest_format = false;
};

/// A box of a dataset: as many numbers as it has dimensions. With any count of 0 it is empty.
struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

class RecordFile {
  public:
    /// Replaces what is there. EnvironmentError where MPI is asked for and this HDF5 was built
    /// without it; OptionError for a hint that MPI does not take.
    RecordFile(const std::filesystem::path& path, const RecordFileOptions& options);
    /// Writes nothing more to a file that was not closed. A file of several ranks stays open in the
    /// library: closing is collective, and a rank that destroys it early may be alone.
    ~RecordFile();

    /// Collective. Makes the dataset /output/NAME and closes it at once, to save memory. `chunk`:
    /// its edges, cut to the shape's; empty: contiguous. An empty dataset is contiguous.
    void make(const std::string& name, std::span<const std::int64_t> shape,
              std::span<const std::int64_t> chunk);
    Object open(const std::string& name) const;
    /// Writes the box, row-major. With Transfer::collective all ranks of the file call it for the
    /// same dataset, with disjoint boxes. EnvironmentError where there is no room.
    void write(const Object& dataset, const Box& box, std::span<const double> values,
               Requested requested);

    void close();
    /// After close(): what this rank's node has of the file is on the device, then.
    void sync();

    /// The outcomes of this rank's calls of write(), with their counts.
    const std::map<Transfer, std::int64_t>& transfers() const { return transfers_; }
    /// Facts about the MPI-IO beneath, {key, value}; empty without MPI.
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
    /// DataError where the file is missing, cut off or no HDF5 file.
    explicit RecordSource(const std::filesystem::path& path);

    /// The dataset /output/NAME, which holds float64 of this shape; else DataError.
    Object open(const std::string& name, std::span<const std::int64_t> shape) const;
    /// All of the dataset, row-major.
    void read(const Object& dataset, std::span<double> values) const;
    /// The plane [index, :, :] of a dataset of three dimensions.
    void read_plane(const Object& dataset, std::int64_t index, std::span<double> values) const;

  private:
    Object open_within(const std::string& within) const;
    void read_part(const Object& dataset, Id::type memory, Id::type space,
                   std::span<double> values) const;

    std::string path_;
    Id file_;
};

}  // namespace ranklab::hdf5
