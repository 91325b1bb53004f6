#include "data/make/tools.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/output_file.hpp"
#include "data/make/pieces.hpp"
#include "data/source.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

constexpr std::int64_t kMatter = 4;  // channels of /Nbody
constexpr std::int64_t kGas = 5;     // channels of /Hydro
constexpr double kDensityUnit = 14;
constexpr double kSigma = 2;    // standard deviation of ln(rho)
constexpr double kSpeed = 0.3;  // standard deviation of a velocity component, in 9e7 cm/s
constexpr std::int64_t kSchema = 1;

struct Octave {
    unsigned bits;  // its lattice points are 2^bits cells apart
    double variance;
};
// Most of the variance is on large scales, as in the spectrum of cold dark matter.
constexpr std::array kOctaves{Octave{2, 0.05}, Octave{3, 0.15}, Octave{4, 0.3}, Octave{5, 0.5}};
// Variance of the interpolated noise: 1/3 for numbers uniform in [-1, 1). Interpolation along an
// axis leaves 26/35 of it, the mean of (1 - r)^2 + r^2 over the ramp r = 3 t^2 - 2 t^3.
constexpr double kLatticeVariance = 1.0 / 3 * (26.0 / 35) * (26.0 / 35) * (26.0 / 35);

double mix(double a, double b, double t) {
    return a + (b - a) * t;
}

// Adds noise, interpolated between random lattice points, to plane x of `width` x `width` cells.
void add_octave(std::uint64_t channel_key, const Octave& octave, std::int64_t x, std::int64_t width,
                std::vector<float>& plane) {
    const std::uint64_t key = mix64(channel_key + octave.bits * kGolden64);
    const std::int64_t spacing = std::int64_t{1} << octave.bits;
    // Octaves and channels are shifted, so that they do not share lattice points.
    const std::int64_t shift = key % static_cast<std::uint64_t>(spacing);
    const double height = std::sqrt(octave.variance / kLatticeVariance);
    const auto point_before = [&](std::int64_t cell) { return (cell + shift) >> octave.bits; };
    // From 0 at a lattice point to 1 at the next one, with slope 0 at both.
    const auto ramp = [&](std::int64_t cell) {
        const double t = base::real((cell + shift) % spacing) / base::real(spacing);
        return t * t * (3 - 2 * t);
    };
    const auto random = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        const auto place = static_cast<std::uint64_t>((i << 32) + (j << 16) + k);
        return height * (base::real(mix64(key + (place + 1) * kGolden64) >> 11U) * 0x1p-52 - 1);
    };
    const std::int64_t points = point_before(width - 1) + 2;
    std::vector<double> lattice;  // interpolated along x
    for (std::int64_t j = 0; j < points; ++j)
        for (std::int64_t k = 0; k < points; ++k)
            lattice.push_back(
                mix(random(point_before(x), j, k), random(point_before(x) + 1, j, k), ramp(x)));
    std::vector<double> ramps;
    for (std::int64_t cell = 0; cell < width; ++cell) ramps.push_back(ramp(cell));
    std::vector<double> line(points);  // interpolated along x and y
    for (std::int64_t y = 0; y < width; ++y) {
        const double* const before = &lattice[point_before(y) * points];
        for (std::int64_t k = 0; k < points; ++k)
            line[k] = mix(before[k], before[k + points], ramps[y]);
        for (std::int64_t z = 0; z < width; ++z) {
            const double* const point = &line[point_before(z)];
            plane[y * width + z] += static_cast<float>(mix(point[0], point[1], ramps[z]));
        }
    }
}

// The network's last layer is a tanh: targets have to lie within (-1, 1), in float32 too.
double within_tanh(double value) {
    constexpr double kMost = 0.9999;
    return std::clamp(std::tanh(value), -kMost, kMost);
}

// ln(rho) of a lognormal density, from noise g of variance 1.
double log_density(double g) {
    return kSigma * g - kSigma * kSigma / 2;
}

// Mean of a cell and its 26 neighbours with the weights 1, 2, 1 along each axis. `planes`: three
// planes with rows of `width` cells. `corner`: the index in a plane of the first neighbour.
double mean_around(const std::vector<float>* planes, std::int64_t corner, std::int64_t width) {
    constexpr std::array<double, 3> kWeights{1, 2, 1};
    double sum = 0;
    for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j) {
            const float* const row = &planes[i][corner + j * width];
            sum += kWeights[i] * kWeights[j] * (row[0] + 2 * row[1] + row[2]);
        }
    return sum / 64;
}

// Fills `nbody` [4, planes, L, L] and `hydro` [5, planes, L, L].
void make_planes(const CosmologySpec& spec, base::Share planes, std::span<float> nbody,
                 std::span<float> hydro) {
    // The noise has one more cell at each end of each axis, since mean_around() reads neighbours.
    const std::int64_t width = spec.edge + 2;
    const auto seed = static_cast<std::uint64_t>(spec.seed);
    std::array<std::vector<std::vector<float>>, kMatter> noise;
    for (std::size_t c = 0; c < kMatter; ++c)
        for (std::int64_t i = 0; i < planes.count + 2; ++i)
            noise[c].push_back(noise_plane(seed, c, planes.first + i, width));
    const std::int64_t area = spec.edge * spec.edge;
    for (std::int64_t cell = 0; cell < planes.count * area; ++cell) {
        const std::int64_t plane = cell / area;
        const std::int64_t corner = cell % area / spec.edge * width + cell % spec.edge;
        std::array<double, kMatter> means{};
        for (std::int64_t c = 0; c < kMatter; ++c) {
            means[c] = mean_around(&noise[c][plane], corner, width);
            const double here = noise[c][plane + 1][corner + width + 1];
            nbody[c * planes.count * area + cell] =
                static_cast<float>(c == 0 ? log_density(here) / kDensityUnit : kSpeed * here);
        }
        const auto gas = gas_of(means);
        for (std::int64_t c = 0; c < kGas; ++c)
            hydro[c * planes.count * area + cell] = static_cast<float>(gas[c]);
    }
}

VolumeShape shape_of(std::int64_t channels, std::int64_t edge) {
    return {channels, edge, edge, edge};
}

// Returns the checksums of /Nbody and /Hydro.
std::array<std::uint64_t, 2> write_volume(comm::Communicator& control, const CosmologySpec& spec,
                                          hdf5::DatasetFile& file, base::ProgressSink& progress) {
    std::vector<float> nbody, hydro;
    ValueScan of_nbody, of_hydro;
    const auto nbody_set = file.open("Nbody"), hydro_set = file.open("Hydro");
    const auto nbody_shape = shape_of(kMatter, spec.edge), hydro_shape = shape_of(kGas, spec.edge);
    for_each_piece(control, shape_of(kMatter + kGas, spec.edge), progress, [&](base::Share planes) {
        nbody.resize(kMatter * planes.count * spec.edge * spec.edge);
        hydro.resize(kGas * planes.count * spec.edge * spec.edge);
        make_planes(spec, planes, nbody, hydro);
        write_all(control, file, nbody_set, part_of(nbody_shape, planes), nbody);
        write_all(control, file, hydro_set, part_of(hydro_shape, planes), hydro);
        of_nbody.add_planes(nbody_shape, planes, nbody);
        of_hydro.add_planes(hydro_shape, planes, hydro);
    });
    of_nbody.gather(control);
    of_hydro.gather(control);
    return {of_nbody.sum, of_hydro.sum};
}

void describe(const std::filesystem::path& path, const CosmologySpec& spec,
              const CosmologyReport& report, const std::string& version) {
    auto file = hdf5::File::open_to_change(path);
    {
        const auto root = file.root();
        root.set_int("ranklab_data_schema", kSchema);
        root.set_text("ranklab_version", version);
        root.set_text("made_by", "ranklab data make cosmology");
        root.set_text("fields", "interpolated noise");
        root.set_int("seed", spec.seed);
        root.set_double("sigma", kSigma);
        root.set_double("speed", kSpeed);
        root.set_text("units", "ln(rho)/14, v/(9e7 cm/s), ln(T/K)/8-1.5");
        constexpr std::array kChannels{"rho,vx,vy,vz", "rho,vx,vy,vz,T"};
        for (std::size_t d = 0; d < 2; ++d) {
            const auto dataset = hdf5::open_dataset(root, kVolumeNames[d]);
            dataset.set_text("channels", kChannels[d]);
            dataset.set_int("checksum_sum64", std::bit_cast<std::int64_t>(report.checksums[d]));
        }
    }
    file.close();
}

}  // namespace

std::vector<float> noise_plane(std::uint64_t seed, std::uint64_t channel, std::int64_t x,
                               std::int64_t width) {
    const std::uint64_t key = mix64(mix64(seed + kGolden64) + channel * kGolden64);
    std::vector<float> plane(width * width);
    for (const auto& octave : kOctaves) add_octave(key, octave, x, width, plane);
    return plane;
}

std::array<double, 5> gas_of(const std::array<double, 4>& noise) {
    constexpr double kColdestLog = 9.210340371976184;  // ln(1e4 K)
    const double density = log_density(noise[0]);
    double squares = 0;
    std::array<double, 5> gas{within_tanh(density / kDensityUnit)};
    for (std::size_t axis = 1; axis < 4; ++axis) {
        squares += noise[axis] * noise[axis];
        gas[axis] = within_tanh(kSpeed * noise[axis]);
    }
    // An equation of state, and shocks: gas that is dense and fast is up to exp(4) times hotter.
    const double fast = squares / (squares + 3);
    const double dense = 1 / (1 + std::exp(-density));
    gas[4] = within_tanh((kColdestLog + 0.6 * density + 4 * dense * fast) / 8 - 1.5);
    return gas;
}

std::uint64_t cosmology_bytes(const CosmologySpec& spec) {
    const std::int64_t chunk = std::min(spec.chunk, spec.edge);
    const std::uint64_t stored = chunk == 0 ? spec.edge : (spec.edge + chunk - 1) / chunk * chunk;
    return stored * stored * stored * (kMatter + kGas) * 4;
}

CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::string& version, base::ProgressSink& progress) {
    OutputFile output(control, spec.output, spec.force, cosmology_bytes(spec) + kHeaderBytes);
    hdf5::DatasetFile file(output.path(), volume_file(control));
    make_volume(file, "Nbody", shape_of(kMatter, spec.edge), spec.chunk);
    make_volume(file, "Hydro", shape_of(kGas, spec.edge), spec.chunk);
    file.flush();
    CosmologyReport report;
    comm::on_root(control, [&] { report.bytes = output.reserve(kHeaderBytes); });
    progress.activity("making the volume");
    report.checksums = write_volume(control, spec, file, progress);
    file.close();
    comm::on_root(control, [&] { describe(output.path(), spec, report, version); });
    output.commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
