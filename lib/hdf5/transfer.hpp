// How data moved in an HDF5 transfer: HDF5 silently falls back from collective to independent.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

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
/// the reasons against a collective transfer, joined by " + ", or "none". Reasons of other ranks
/// alone end with "(elsewhere)".
std::array<std::string, 4> words_of(const Transfer& transfer);

}  // namespace ranklab::hdf5
