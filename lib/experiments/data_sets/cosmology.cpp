#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/make/cosmology.hpp"
#include "data/make/slab_writer.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kLargestEdge = 16384;
// Squares and products of such scales are finite in float32 too.
constexpr double kLargestScale = 1e6;

data::CosmologySpec spec_of(const options::Options& options) {
    return {.edge = options.integer("edge"),
            .chunk = options.integer("chunk"),
            .seed = static_cast<std::uint64_t>(options.integer("seed")),
            .cutoff = options.real("cutoff"),
            .scales = {.sigma = options.real("sigma"),
                       .speed = options.real("speed"),
                       .gas_smoothing = options.real("gas-smoothing")}};
}

class MakeCosmology final : public Verb {
  public:
    std::string words() const override { return "make cosmology"; }
    std::string usage() const override { return "[FILE.h5] --edge L [options]"; }
    std::string summary() const override {
        return "Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, into one HDF5 file: "
               "correlated random fields, and gas that is a smooth map of them.";
    }
    std::string examples() const override {
        return "  ranklab data make cosmology --edge 128                                    "
               "cosmology-128.h5, as published (contiguous)\n"
               "  ranklab data make cosmology train.h5 --edge 512 --chunk 16              chunks "
               "that make 64-cubed crops cheap\n"
               "  srun -n 1 -c 64 ranklab data make cosmology --edge 1024 --output train.h5 --seed "
               "7\n";
    }
    void describe(options::Schema& schema) const override {
        schema.positional(1);
        schema.section("Volume")
            .text("output", "FILE", std::nullopt,
                  "the file to make; the same as the word FILE.h5 (default: cosmology-<edge>.h5)")
            .integer("edge", 2, "128", "cells along each axis")
            .integer("chunk", 0, "0",
                     "edge of a chunk, which holds all channels of a cube: 16 to 64; 0 for one "
                     "contiguous array, as published")
            .integer("seed", {0, options::kWholeNumbers}, "1",
                     "seed of the white noise from which all fields come")
            .flag("force", "replace what is there already");
        schema.section("Fields")
            .real("cutoff", 0, "2", "cells below which structure fades")
            .real("sigma", 0, "2", "spread of ln(rho)")
            .real("speed", 0, "0.3", "spread of a velocity component, in 9e7 cm/s")
            .real("gas-smoothing", 0, "1.5", "cells over which gas is smoother than matter");
    }
    std::vector<results::Setting> resolve(options::Options& options) const override {
        const std::int64_t edge = options.integer("edge");
        if (edge > kLargestEdge)
            throw base::OptionError(fmt::format("--edge {} is beyond {}, the largest that is made",
                                                edge, kLargestEdge));
        if (options.integer("chunk") > edge)
            throw base::OptionError(
                fmt::format("--chunk {} is longer than --edge {}; a chunk is a part of the volume",
                            options.integer("chunk"), edge));
        for (const char* scale : {"sigma", "speed", "gas-smoothing", "cutoff"})
            if (!(options.real(scale) <= kLargestScale))
                throw base::OptionError(
                    fmt::format("--{} {} is beyond {}: the fields would not be numbers", scale,
                                options.real(scale), kLargestScale));
        const std::string place = place_of(options, 0, fmt::format("cosmology-{}.h5", edge));
        options.resolve("output", place);
        const auto spec = spec_of(options);
        return {{"file", place, false},
                {"bytes", fmt::format("{}", data::cosmology_bytes(spec)), true},
                {"memory_bytes", fmt::format("{}", data::cosmology_memory(spec)), true}};
    }
    ToolReport run(const ToolPlace& place) override {
        auto& [control, options, progress, start_up, counting] = place.context;
        const auto spec = spec_of(options);
        const std::string file = place_of(options, 0, options.text("output"));
        const auto report = data::make_cosmology(control, spec, file, options.flag("force"),
                                                 place.version, progress);
        std::string text =
            fmt::format("{}: {}\n", file, base::human_bytes(static_cast<double>(report.bytes)));
        const std::string layout =
            spec.chunk == 0 ? "contiguous" : fmt::format("chunks [C, {0}, {0}, {0}]", spec.chunk);
        text += fmt::format(
            "  /Nbody [4, {0}, {0}, {0}]  {1}  {2}\n  /Hydro [5, {0}, {0}, {0}]  {1}  {3}\n",
            spec.edge, layout, data::sum64_text(report.checksums[0]),
            data::sum64_text(report.checksums[1]));
        return {text + fmt::format("Next: ranklab data verify {}\n", base::shell_path(file)), ""};
    }
};

}  // namespace

std::unique_ptr<Verb> make_cosmology_verb() {
    return std::make_unique<MakeCosmology>();
}

}  // namespace ranklab::experiments
