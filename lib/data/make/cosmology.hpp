// A synthetic cosmology volume: matter as a correlated random field, gas as a smooth map of it,
// made and written by rank 0 on its cores while the other ranks wait. docs/data.md has the
// formulae.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/make/field_formulae.hpp"

namespace ranklab::data {

struct CosmologySpec {
    std::int64_t edge = 128;  ///< cells along each axis
    std::int64_t chunk = 0;   ///< edge of a chunk; 0: contiguous, as published
    std::uint64_t seed = 1;
    double cutoff = 2;  ///< cells, of the power spectrum
    MatterScales scales;
};

/// Bytes of the file without its small headers.
std::uint64_t cosmology_bytes(const CosmologySpec& spec);
/// Memory of rank 0 in bytes: 24 a cell, and 32 a row.
std::uint64_t cosmology_memory(const CosmologySpec& spec);

struct CosmologyReport {
    std::uint64_t bytes = 0;                   ///< of the file
    std::array<std::uint64_t, 2> checksums{};  ///< of /Nbody and /Hydro
};

/// Collective; rank 0 gets the report. Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32,
/// with their settings as attributes. The datasets are the same bit by bit at any number of ranks
/// and threads. Nothing is left under `target` unless all of it is right. EnvironmentError where
/// there is no room on the disk or in memory, OptionError for a file that is there already.
CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::filesystem::path& target, bool force,
                               const std::string& version, base::ProgressSink& progress);

}  // namespace ranklab::data
