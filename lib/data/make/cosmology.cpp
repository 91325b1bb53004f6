#include "data/make/cosmology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <new>
#include <numbers>
#include <vector>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/native_handle.hpp"
#include "data/make/counter_random.hpp"
#include "data/make/output_file.hpp"
#include "data/make/pace.hpp"
#include "data/make/slab_fourier.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

using Complex = SlabFourier::Complex;
using Filter = SlabFourier::Filter;

constexpr std::int64_t kNbodyChannels = 4;
constexpr std::int64_t kHydroChannels = 5;
constexpr std::uint64_t kDensityStream = 1;        // of the counter-based generator
constexpr std::uint64_t kHeaderBytes = 1U << 20U;  // attributes and HDF5's own
constexpr std::int64_t kSchema = 1;

hdf5::VolumeShape shape_of(std::int64_t channels, std::int64_t edge) {
    return {channels, edge, edge, edge};
}

// The fields of one volume, one after another: each is an inverse transform of the same spectrum.
class FieldMaker {
  public:
    FieldMaker(comm::Communicator& control, const CosmologySpec& spec, base::ProgressSink& progress)
        : control_(control),
          spec_(spec),
          progress_(progress),
          fourier_(control, spec.edge, [&progress] { progress.activity("transforming the volume"); }),
          pace_(progress, kTransforms, "Mcell/s", "fields made") {}

    base::Share planes() const { return fourier_.planes(); }
    std::size_t cells() const { return planes().count * spec_.edge * spec_.edge; }

    // White noise by the cell's own number, then how strong each wave should be.
    void draw() {
        progress_.activity("drawing white noise");
        const CounterRandom random(spec_.seed, kDensityStream);
        fourier_.forward([&](std::int64_t i0, std::int64_t i1, std::span<double> row) {
            random.normals((i0 * spec_.edge + i1) * spec_.edge, row);
        });
        const std::int64_t half = spec_.edge / 2;
        std::vector<std::int64_t> modes(3 * half * half + 1);
        fourier_.visit_waves([&](const Wave& wave, int weight) { modes[wave.squared()] += weight; });
        control_.allreduce(comm::view(std::span(modes)), comm::ReduceOp::sum);
        amplitudes_ = amplitudes(spec_.spectrum, spec_.edge, modes);
        speed_scale_ = spec_.scales.speed / velocity_spread(amplitudes_, spec_.edge, modes);
        pace_.step(megacells());
    }

    // The Gaussian field of variance 1; smoothed, in cells, for the gas.
    void density(double smoothing, std::span<float> out, const std::function<double(double)>& map) {
        transform([&](const Wave& wave) { return Complex(amplitude(wave) * smooth(wave, smoothing)); }, out,
                  map);
    }

    // Linear theory (Zel'dovich): u_k = i k / k^2 delta_k, so that its divergence is -delta.
    void velocity(std::int64_t axis, double smoothing, std::span<float> out,
                  const std::function<double(double)>& map) {
        transform(
            [&](const Wave& wave) {
                const std::int64_t along = axis == 0 ? wave.a0 : axis == 1 ? wave.a1 : wave.a2;
                // The wave that is its own conjugate has no derivative.
                if (along == 0 || 2 * std::abs(along) == spec_.edge) return Complex();
                const double k_over_k2 = base::real(along) / base::real(wave.squared()) *
                                         base::real(spec_.edge) / (2 * std::numbers::pi);
                return Complex(0, k_over_k2 * amplitude(wave) * smooth(wave, smoothing) * speed_scale_);
            },
            out, map);
    }

  private:
    static constexpr std::int64_t kTransforms = 1 + 2 * kNbodyChannels;

    double megacells() const { return base::real(spec_.edge * spec_.edge * spec_.edge) / 1e6; }
    double amplitude(const Wave& wave) const { return amplitudes_[wave.squared()]; }
    double smooth(const Wave& wave, double cells) const {
        if (cells == 0) return 1;
        const double k = 2 * std::numbers::pi * cells / base::real(spec_.edge);
        return std::exp(-k * k * base::real(wave.squared()) / 2);
    }

    void transform(const Filter& filter, std::span<float> out, const std::function<double(double)>& map) {
        const std::int64_t edge = spec_.edge;
        fourier_.inverse(filter, [&](std::int64_t i0, std::int64_t i1, std::span<const double> row) {
            float* to = out.data() + ((i0 - planes().first) * edge + i1) * edge;
            std::transform(row.begin(), row.end(), to,
                           [&](double value) { return static_cast<float>(map(value)); });
        });
        pace_.step(megacells());
    }

    comm::Communicator& control_;
    const CosmologySpec& spec_;
    base::ProgressSink& progress_;
    SlabFourier fourier_;
    std::vector<double> amplitudes_;
    double speed_scale_ = 1;
    Pace pace_;
};

void write_nbody(FieldMaker& fields, const CosmologySpec& spec, SlabWriter& out) {
    std::vector<float> slab(fields.cells());
    fields.density(0, slab, [&](double g) { return dark_matter(spec.scales, g); });
    out.write_channel(0, fields.planes(), slab);
    for (std::int64_t axis = 0; axis < 3; ++axis) {
        fields.velocity(axis, 0, slab, [](double v) { return v; });
        out.write_channel(1 + axis, fields.planes(), slab);
    }
}

void write_hydro(FieldMaker& fields, const CosmologySpec& spec, SlabWriter& out) {
    const double width = spec.scales.gas_smoothing;
    std::vector<float> slab(fields.cells());
    std::vector<float> field(fields.cells());
    std::vector<float> speed_squared(fields.cells(), 0.0F);
    const auto write = [&](std::int64_t channel, const auto& value) {
        for (std::size_t i = 0; i < slab.size(); ++i) slab[i] = static_cast<float>(value(i));
        out.write_channel(channel, fields.planes(), slab);
    };
    for (std::int64_t axis = 0; axis < 3; ++axis) {
        fields.velocity(axis, width, field, [](double v) { return v; });
        for (std::size_t i = 0; i < field.size(); ++i) speed_squared[i] += field[i] * field[i];
        write(1 + axis, [&](std::size_t i) { return gas_velocity(field[i]); });
    }
    fields.density(width, field, [](double g) { return g; });
    write(0, [&](std::size_t i) { return gas_density(spec.scales, field[i]); });
    write(4, [&](std::size_t i) { return gas_temperature(spec.scales, field[i], speed_squared[i]); });
}

// By one rank, into the closed file: texts of variable length are not for parallel writing.
void describe(const std::filesystem::path& path, const CosmologySpec& spec, const CosmologyReport& report,
              const std::string& version) {
    auto file = hdf5::File::open_to_change(path);
    {
        const auto root = file.root();
        root.set_int("ranklab_data_schema", kSchema);
        root.set_text("ranklab_version", version);
        root.set_text("made_by", "ranklab data make cosmology");
        root.set_int("seed", static_cast<std::int64_t>(spec.seed));
        root.set_text("spectrum", spec.spectrum.name);
        root.set_double("spectral_index", spec.spectrum.index);
        root.set_double("cutoff_cells", spec.spectrum.cutoff);
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

CosmologyReport write_volume(comm::Communicator& control, const CosmologySpec& spec, OutputFile& output,
                             base::ProgressSink& progress) {
    hdf5::VolumeWriter file(output.path(), comm::native_mpi(control));
    file.make("Nbody", shape_of(kNbodyChannels, spec.edge), spec.chunk);
    file.make("Hydro", shape_of(kHydroChannels, spec.edge), spec.chunk);
    file.flush();
    CosmologyReport report;
    comm::together(control, [&] {
        if (control.rank() == 0) report.bytes = output.reserve(kHeaderBytes);
    });
    FieldMaker fields(control, spec, progress);
    fields.draw();
    SlabWriter nbody(control, file, "Nbody", shape_of(kNbodyChannels, spec.edge));
    SlabWriter hydro(control, file, "Hydro", shape_of(kHydroChannels, spec.edge));
    write_nbody(fields, spec, nbody);
    write_hydro(fields, spec, hydro);
    report.checksums = {nbody.checksum(), hydro.checksum()};
    report.collective = nbody.collective() && hydro.collective();
    file.close();
    return report;
}

}  // namespace

std::uint64_t cosmology_bytes(const CosmologySpec& spec) {
    const std::int64_t chunk = std::min(spec.chunk, spec.edge);
    const std::int64_t stored = chunk == 0 ? spec.edge : (spec.edge + chunk - 1) / chunk * chunk;
    return static_cast<std::uint64_t>(stored * stored * stored * (kNbodyChannels + kHydroChannels)) * 4;
}

std::uint64_t cosmology_rank_bytes(const CosmologySpec& spec, int ranks) {
    constexpr std::uint64_t kBytesACell = 36;  // spectrum, two buffers of its size, three float32 fields
    return kBytesACell *
           static_cast<std::uint64_t>(base::share_of(spec.edge, 0, ranks).count * spec.edge * spec.edge);
}

CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::filesystem::path& target, bool force, const std::string& version,
                               base::ProgressSink& progress) {
    OutputFile output(control, target, force, cosmology_bytes(spec) + kHeaderBytes);
    CosmologyReport report;
    try {
        report = write_volume(control, spec, output, progress);
    } catch (const std::bad_alloc&) {
        throw base::EnvironmentError(
            fmt::format(
                "a volume of edge {} needs {} of memory on each of {} rank(s), which is not there; start "
                "more "
                "ranks on more nodes, or make a smaller volume",
                spec.edge, base::human_bytes(base::real(cosmology_rank_bytes(spec, control.world_size()))),
                control.world_size()),
            {"edge"});
    }
    comm::together(control, [&] {
        if (control.rank() == 0) describe(output.path(), spec, report, version);
    });
    output.commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
