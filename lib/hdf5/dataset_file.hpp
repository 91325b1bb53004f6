// Files of numeric datasets, for the HDF5 strategies and for data sets. DatasetFile writes one,
// from a single process or through MPI-IO from all ranks of an MPI_Comm; DatasetSource reads one.
// After each transfer the writer asks HDF5 how the data moved, since HDF5 silently falls back from
// collective to independent transfers.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/error.hpp"
#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

enum class Requested { independent, collective };

/// HDF5's codes of a transfer: H5D_mpio_actual_io_mode_t, H5D_mpio_actual_chunk_opt_mode_t, and the
/// bits of H5D_mpio_no_collective_cause_t of this rank and of all ranks.
struct Transfer {
    Requested requested = Requested::independent;
    int io_mode = 0;
    int chunk_mode = 0;
    std::uint32_t local_cause = 0;
    std::uint32_t global_cause = 0;

    auto operator<=>(const Transfer&) const = default;

    /// Whether a collective transfer was requested and at least a part was independent.
    bool fell_back() const;
};

/// The transfer in words: "independent" or "collective" as requested; the mode ("contiguous
/// collective", "no collective" ...); the mode of chunks ("none", "link chunk", "multi chunk"); and
/// the reasons against a collective transfer, joined by " + ", or "none". A reason that only other
/// ranks have ends with "(elsewhere)".
std::array<std::string, 4> words_of(const Transfer& transfer);

using Facts = std::vector<std::pair<std::string, std::string>>;  ///< names and values

struct DatasetFileOptions {
    /// Points to an MPI_Comm (comm::native_mpi) whose ranks create this file together; nullptr: a
    /// single process.
    const void* mpi = nullptr;
    Facts hints = {};                            ///< for MPI-IO
    std::string group = "/output";               ///< holds the datasets
    const char* setting = "directory";           ///< option that named the path
    base::Element element = base::Element::f64;  ///< f64 or f32
    /// Objects of at least this many bytes begin at multiples of it.
    std::uint64_t alignment = 1;
    /// Bytes of the chunk cache, which gathers rows of a chunk: a chunk that does not fit is
    /// written row by row. Collective writes bypass it. 0: HDF5's 1 MiB.
    std::size_t chunk_cache = 0;
    /// Allocates a dataset when it is made, as HDF5 always does through MPI-IO.
    bool early_allocation = true;
    bool fill = false;                ///< write zeros when a dataset is allocated
    bool collective_metadata = true;  ///< all ranks write metadata together
    /// All ranks open datasets together, and one reads the metadata for all.
    bool collective_opening = true;
    /// true: the library's newest format. false, as in h5py: the oldest format that can hold the
    /// data, which HDF5 1.8 reads.
    bool latest_format = false;
};

class DatasetFile {
  public:
    /// Replaces an existing file. Throws EnvironmentError if several ranks write and this HDF5 has
    /// no MPI, OptionError for a hint that MPI refuses.
    DatasetFile(const std::filesystem::path& path, DatasetFileOptions options);
    /// Abandons a file that was not closed: it stays open in the library. HDF5 1.10 crashes if it
    /// closes a file after a failed write, and a collective close would wait for lost ranks.
    ~DatasetFile();

    /// Collective. Makes the dataset and closes it, to save memory. `chunk` has the edges of
    /// chunks, clipped to the shape; if `chunk` or the dataset is empty, the dataset is contiguous.
    void make(const std::string& name, std::span<const std::int64_t> shape,
              std::span<const std::int64_t> chunk);
    Object open(const std::string& name) const;
    /// Writes the box, row-major. With Requested::collective all ranks of the file must call it for
    /// the same dataset, with disjoint boxes. Throws EnvironmentError if there is no space.
    void write(const Object& dataset, const Box& box, std::span<const double> values,
               Requested requested) {
        write(dataset, box, base::Element::f64, values.data(), values.size(), requested);
    }
    void write(const Object& dataset, const Box& box, std::span<const float> values,
               Requested requested) {
        write(dataset, box, base::Element::f32, values.data(), values.size(), requested);
    }

    /// Collective. Afterwards the file has its full size, and callers can reserve its blocks.
    void flush();
    void close();
    /// Calls fsync, after close(): brings this node's cached part of the file to the device.
    void sync();

    /// The number of this rank's write() calls by outcome.
    const std::map<Transfer, std::int64_t>& transfers() const { return transfers_; }
    /// describe_mpi_io() of the file; empty without MPI.
    const Facts& mpi_io() const { return mpi_io_; }

  private:
    void create();
    void write(const Object& dataset, const Box& box, base::Element element, const void* values,
               std::size_t size, Requested requested);
    [[noreturn]] void rethrow_of_place(const base::Hdf5Error& error) const;

    std::string path_;
    DatasetFileOptions options_;
    Id file_;
    Id group_;
    Id independent_;
    Id collective_;
    std::map<Transfer, std::int64_t> transfers_;
    Facts mpi_io_;
};

class DatasetSource {
  public:
    /// Throws DataError if the file is missing, cut off or not HDF5.
    explicit DatasetSource(const std::filesystem::path& path);

    /// Opens the dataset /output/NAME. Throws DataError unless it holds float64 of this shape.
    Object open(const std::string& name, std::span<const std::int64_t> shape) const;

  private:
    std::string path_;
    Id file_;
};

}  // namespace ranklab::hdf5
