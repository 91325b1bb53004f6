// A synthetic cosmology volume by a formula: dark matter is interpolated noise, gas a smooth
// function of the matter around it. docs/data.md has the formulae.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

struct CosmologySpec {
    std::int64_t edge = 128;  ///< cells along each axis
    std::int64_t chunk = 0;   ///< edge of a chunk; 0: contiguous, as published
    std::int64_t seed = 1;
    double sigma = 2;    ///< standard deviation of ln(rho)
    double speed = 0.3;  ///< standard deviation of a velocity component, in 9e7 cm/s
};

/// Bytes of the file without its small headers.
std::uint64_t cosmology_bytes(const CosmologySpec& spec);

/// Plane x, [width, width], of noise with mean 0 and variance about 1, which follows from seed,
/// channel and the cell's place alone: random numbers at lattice points 4, 8, 16 and 32 cells
/// apart, interpolated and added.
std::vector<float> noise_plane(std::uint64_t seed, std::uint64_t channel, std::int64_t x,
                               std::int64_t width);

/// The five Hydro channels of a cell. `noise`: of density and velocity, averaged over the cell and
/// its neighbours. Values lie within (-1, 1), where the U-Net's tanh can reach them.
std::array<double, 5> gas_of(const CosmologySpec& spec, const std::array<double, 4>& noise);

struct CosmologyReport {
    std::uint64_t bytes = 0;                   ///< of the file
    std::array<std::uint64_t, 2> checksums{};  ///< of /Nbody and /Hydro
};

/// Collective. Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, and the settings as
/// attributes. Each rank writes its planes; a dataset's bytes are equal at any number of ranks. The
/// file gets its name `target` once complete. Throws EnvironmentError if the disk lacks space,
/// OptionError if `target` exists and `force` is false.
CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::filesystem::path& target, bool force,
                               const std::string& version, base::ProgressSink& progress);

}  // namespace ranklab::data
