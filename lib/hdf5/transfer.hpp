// What became of one H5Dwrite: what was asked for, and what HDF5 says it did.
#pragma once

#include <cstdint>
#include <string>

namespace ranklab::hdf5 {

enum class Requested { independent, collective };

/// Codes of HDF5, which hdf5/transfer.cpp puts into words: H5D_mpio_actual_io_mode_t,
/// H5D_mpio_actual_chunk_opt_mode_t and the sets of H5D_mpio_no_collective_cause_t of this rank and of all.
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

std::string requested_name(const Transfer& transfer);   ///< "independent", "collective"
std::string io_mode_name(const Transfer& transfer);     ///< "contiguous collective", "no collective", ...
std::string chunk_mode_name(const Transfer& transfer);  ///< "none", "link chunk", "multi chunk"
/// "none", or HDF5's reasons joined by " + ". Those that hold on another rank alone end with "(elsewhere)".
std::string cause_name(const Transfer& transfer);

}  // namespace ranklab::hdf5
