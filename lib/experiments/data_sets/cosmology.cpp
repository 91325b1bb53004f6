#include <fmt/format.h>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/tools.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

using data::CosmologySpec;

// Squares and products of such scales are finite in float32.
constexpr double kLargestScale = 1e6;

Runs make(const CosmologySpec& spec, const std::string& file, bool force,
          const RunContext& context) {
    // A rank holds at least one plane of each of 9 channels, and three planes of noise for each
    // of 4.
    need_memory(context.control, 4.0 * (9 + 4 * 3) * base::real(spec.edge * spec.edge),
                "the planes that a rank makes at a time", {"edge"}, std::nullopt);
    const auto report =
        data::make_cosmology(context.control, spec, file, force, context.version, context.progress);
    const std::string layout =
        spec.chunk == 0 ? "contiguous" : fmt::format("chunks [C, {0}, {0}, {0}]", spec.chunk);
    return {
        .text =
            fmt::format("{}: {}\n", file, base::human_bytes(static_cast<double>(report.bytes))) +
            fmt::format("  /Nbody [4, {0}, {0}, {0}]  {1}  {2}\n  /Hydro [5, {0}, {0}, {0}]  {1}  "
                        "{3}\n",
                        spec.edge, layout, data::sum64_text(report.checksums[0]),
                        data::sum64_text(report.checksums[1])) +
            fmt::format("Next: ranklab data verify {}\n", base::shell_path(file))};
}

}  // namespace

Experiment make_cosmology_verb() {
    using S = CosmologySpec;
    return {
        .command = "data make cosmology",
        .usage = "[FILE.h5] --edge L [options]",
        .summary =
            "Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, into one HDF5 file: "
            "noise with structure on many scales, and gas that is a smooth map of it.",
        .examples =
            "  ranklab data make cosmology --edge 128                                    "
            "cosmology-128.h5, as published (contiguous)\n"
            "  ranklab data make cosmology train.h5 --edge 512 --chunk 16              chunks "
            "that make 64-cubed crops cheap\n"
            "  srun -n 64 ranklab data make cosmology --edge 1024 --output train.h5 --seed "
            "7\n",
        .options =
            options::Schema()
                .positional(1)
                .section("Volume")
                .text("output", &OutputSettings::output, "FILE",
                      "the file to make, also as argument FILE.h5 (default: cosmology-<edge>.h5)")
                .integer("edge", &S::edge, {2, 16384}, "cells along each axis")
                .integer("chunk", &S::chunk, 0,
                         "edge of a chunk, which holds all channels of a cube: 16 to 64; 0 for one "
                         "contiguous array, as published")
                .integer("seed", &S::seed, {0, options::kWholeNumbers},
                         "seed of the noise from which all fields come")
                .flag("force", &OutputSettings::force, "replace what is there already")
                .section("Fields")
                .real("sigma", &S::sigma, {0, kLargestScale}, "spread of ln(rho)")
                .real("speed", &S::speed, {0, kLargestScale},
                      "spread of a velocity component, in 9e7 cm/s")
                .no_option({"cutoff", "gas-smoothing"},
                           "the smallest structure is 4 cells and gas is smoothed over 3"),
        .settle = [](const auto& given, const auto& common, auto&) -> Plan {
            const auto spec = given.template fields<CosmologySpec>();
            if (spec.chunk > spec.edge)
                throw base::OptionError(
                    fmt::format("--chunk {} is longer than --edge {}; give a shorter --chunk",
                                spec.chunk, spec.edge));
            auto to = given.template fields<OutputSettings>();
            const std::string file =
                output_of(given, 0, to.output, fmt::format("cosmology-{}.h5", spec.edge));
            to.output = file;
            return {
                .settings = given.effective(to, spec, common),
                .facts = {{"file", file, false},
                          {"bytes", fmt::to_string(data::cosmology_bytes(spec)), true}},
                .run = [=](const auto& context) { return make(spec, file, to.force, context); }};
        }};
}

}  // namespace ranklab::experiments
