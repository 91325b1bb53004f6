#include "data/make/cosmology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numbers>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "data/make/counter_random.hpp"
#include "data/make/field_formulae.hpp"
#include "data/make/fourier_cube.hpp"
#include "data/make/output_file.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

using Complex = FourierCube::Complex;

constexpr std::int64_t kNbodyChannels = 4;
constexpr std::int64_t kHydroChannels = 5;
constexpr std::uint64_t kDensityStream = 1;        // of the counter-based generator
constexpr std::uint64_t kHeaderBytes = 1U << 20U;  // attributes and HDF5's own
constexpr std::int64_t kSchema = 1;

hdf5::VolumeShape shape_of(std::int64_t channels, std::int64_t edge) {
    return {channels, edge, edge, edge};
}

// The fields of one volume, one after another: each is an inverse transform of the same spectrum.
class Fields {
  public:
    Fields(const CosmologySpec& spec, base::ProgressSink& progress)
        : spec_(spec), cube_(spec.edge), pace_(progress, kTransforms, "Mcell/s", "fields made") {
        progress.activity("making the volume");
        draw();
    }

    // The Gaussian field of variance 1; smoothed, in cells, for the gas.
    void density(double smoothing) {
        const auto table = smoothed(smoothing);
        inverse([&](const Wave& wave) { return Complex(table[wave.squared()]); });
    }

    // Linear theory (Zel'dovich): u_k = i k / k^2 delta_k, so that its divergence is -delta.
    void velocity(std::int64_t axis, double smoothing) {
        const auto table = smoothed(smoothing);
        const double factor = speed_scale_ * base::real(spec_.edge) / (2 * std::numbers::pi);
        inverse([&](const Wave& wave) {
            const std::int64_t along = axis == 0 ? wave.a0 : axis == 1 ? wave.a1 : wave.a2;
            // The wave that is its own conjugate has no derivative.
            if (along == 0 || 2 * std::abs(along) == spec_.edge) return Complex();
            const std::int64_t squared = wave.squared();
            return Complex(0, factor * base::real(along) / base::real(squared) * table[squared]);
        });
    }

    /// Calls take(cell, value) for each cell of the field that was made last, on several threads.
    template <class Take>
    void read(const Take& take) const {
        const double scale = 1.0 / (base::real(spec_.edge) * base::real(spec_.edge * spec_.edge));
        cube_.read([&](std::int64_t first, std::span<const double> row) {
            for (std::size_t i = 0; i < row.size(); ++i)
                take(static_cast<std::size_t>(first) + i, row[i] * scale);
        });
    }

  private:
    static constexpr std::int64_t kTransforms = 1 + 2 * kNbodyChannels;

    // White noise by the cell's own number, then how strong each wave should be.
    void draw() {
        const CounterRandom random(spec_.seed, kDensityStream);
        cube_.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
            random.normals((i0 * spec_.edge + i1) * spec_.edge, row);
        });
        const auto modes = modes_by_square(spec_.edge);
        amplitudes_ = amplitudes(spec_.cutoff, spec_.edge, modes);
        speed_scale_ = spec_.scales.speed / velocity_spread(amplitudes_, spec_.edge, modes);
        pace_.step(megacells());
    }

    std::vector<double> smoothed(double cells) const {
        auto table = amplitudes_;
        const double k = 2 * std::numbers::pi * cells / base::real(spec_.edge);
        for (std::size_t n = 0; n < table.size(); ++n)
            table[n] *= std::exp(-k * k * base::real(n) / 2);
        return table;
    }

    template <class Filter>
    void inverse(const Filter& filter) {
        cube_.inverse(filter);
        pace_.step(megacells());
    }

    double megacells() const { return base::real(spec_.edge * spec_.edge * spec_.edge) / 1e6; }

    const CosmologySpec& spec_;
    FourierCube cube_;
    std::vector<double> amplitudes_;
    double speed_scale_ = 1;
    Pace pace_;
};

class Volume {
  public:
    Volume(const CosmologySpec& spec, hdf5::VolumeWriter& file, base::ProgressSink& progress)
        : spec_(spec),
          fields_(spec, progress),
          values_(spec.edge * spec.edge * spec.edge),
          speed_squared_(values_.size()),
          nbody_(*alone_, file, "Nbody", shape_of(kNbodyChannels, spec.edge)),
          hydro_(*alone_, file, "Hydro", shape_of(kHydroChannels, spec.edge)) {}

    void write_nbody() {
        fields_.density(0);
        write(nbody_, 0, [&](std::size_t, double g) { return dark_matter(spec_.scales, g); });
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            fields_.velocity(axis, 0);
            write(nbody_, 1 + axis, [](std::size_t, double v) { return v; });
        }
    }

    void write_hydro() {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            fields_.velocity(axis, spec_.scales.gas_smoothing);
            write(hydro_, 1 + axis, [&](std::size_t cell, double v) {
                speed_squared_[cell] += static_cast<float>(v * v);
                return gas_velocity(v);
            });
        }
        fields_.density(spec_.scales.gas_smoothing);
        write(hydro_, 0, [&](std::size_t, double g) { return gas_density(spec_.scales, g); });
        write(hydro_, 4, [&](std::size_t cell, double g) {
            return gas_temperature(spec_.scales, g, speed_squared_[cell]);
        });
    }

    std::array<std::uint64_t, 2> checksums() const {
        return {nbody_.checksum(), hydro_.checksum()};
    }

  private:
    template <class Map>
    void write(SlabWriter& to, std::int64_t channel, const Map& map) {
        fields_.read([&](std::size_t cell, double value) {
            values_[cell] = static_cast<float>(map(cell, value));
        });
        to.write(channel, 1, {0, spec_.edge}, values_);
    }

    const CosmologySpec& spec_;
    std::unique_ptr<comm::Communicator> alone_ = comm::make_self();
    Fields fields_;
    std::vector<float> values_;
    std::vector<float> speed_squared_;
    SlabWriter nbody_, hydro_;
};

void describe(const std::filesystem::path& path, const CosmologySpec& spec,
              const CosmologyReport& report, const std::string& version) {
    auto file = hdf5::File::open_to_change(path);
    {
        const auto root = file.root();
        root.set_int("ranklab_data_schema", kSchema);
        root.set_text("ranklab_version", version);
        root.set_text("made_by", "ranklab data make cosmology");
        root.set_int("seed", static_cast<std::int64_t>(spec.seed));
        root.set_text("spectrum", "cdm-like");
        root.set_double("spectral_index", kSpectralIndex);
        root.set_double("cutoff_cells", spec.cutoff);
        root.set_double("sigma", spec.scales.sigma);
        root.set_double("speed", spec.scales.speed);
        root.set_double("gas_smoothing_cells", spec.scales.gas_smoothing);
        root.set_text("units", "ln(rho/mean)/14, v/(9e7 cm/s), ln(T/K)/8-1.5");
        constexpr std::array kNames{"Nbody", "Hydro"};
        constexpr std::array kChannels{"rho,vx,vy,vz", "rho,vx,vy,vz,T"};
        for (std::size_t d = 0; d < 2; ++d) {
            const auto dataset = hdf5::open_dataset(root, kNames[d]);
            dataset.set_text("channels", kChannels[d]);
            dataset.set_int("checksum_sum64", std::bit_cast<std::int64_t>(report.checksums[d]));
        }
    }
    file.close();
}

CosmologyReport write_volume(const CosmologySpec& spec, OutputFile& output,
                             base::ProgressSink& progress) try {
    hdf5::VolumeWriter file(output.path(), nullptr);
    file.make("Nbody", shape_of(kNbodyChannels, spec.edge), spec.chunk);
    file.make("Hydro", shape_of(kHydroChannels, spec.edge), spec.chunk);
    file.flush();
    CosmologyReport report{.bytes = output.reserve(kHeaderBytes)};
    Volume volume(spec, file, progress);
    volume.write_nbody();
    volume.write_hydro();
    report.checksums = volume.checksums();
    file.close();
    return report;
} catch (const std::bad_alloc&) {
    throw base::EnvironmentError(
        fmt::format("a volume of edge {} needs {} of memory on rank 0, which is not there; make a "
                    "smaller one",
                    spec.edge, base::human_bytes(base::real(cosmology_memory(spec)))),
        {"edge"});
}

}  // namespace

std::uint64_t cosmology_bytes(const CosmologySpec& spec) {
    const std::int64_t chunk = std::min(spec.chunk, spec.edge);
    const std::int64_t stored = chunk == 0 ? spec.edge : (spec.edge + chunk - 1) / chunk * chunk;
    return static_cast<std::uint64_t>(stored * stored * stored *
                                      (kNbodyChannels + kHydroChannels)) *
           4;
}

std::uint64_t cosmology_memory(const CosmologySpec& spec) {
    const std::uint64_t edge = spec.edge;
    // The memory for the spectrum, the cube and two float32 fields.
    return edge * edge * (2 * 16 * (edge / 2 + 1) + 2 * 4 * edge);
}

CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::filesystem::path& target, bool force,
                               const std::string& version, base::ProgressSink& progress) {
    OutputFile output(control, target, force, cosmology_bytes(spec) + kHeaderBytes);
    CosmologyReport report;
    const auto work = [&] {
        if (control.rank() != 0) return;
        report = write_volume(spec, output, progress);
        describe(output.path(), spec, report, version);
    };
    comm::all_or_throw_polling(control, work, [&] { base::count_progress(); });
    output.commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
