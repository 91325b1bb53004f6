// `ranklab data make`: synthetic data sets.
#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/tools.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

using data::CosmologySpec;
using data::ImageFilesSpec;
using data::TokenFileSpec;

Runs make_cosmology(const CosmologySpec& spec, const RunContext& around) {
    // A rank holds at least one plane of each of 9 channels, and three planes of noise for each
    // of 4.
    need_memory(around.control, 4.0 * (9 + 4 * 3) * base::real(spec.edge * spec.edge),
                "the planes that a rank makes at a time", {"edge"}, std::nullopt);
    const auto report = data::make_cosmology(around.control, spec, around.version, around.progress);
    const std::string layout =
        spec.chunk == 0 ? "contiguous" : fmt::format("chunks [C, {0}, {0}, {0}]", spec.chunk);
    return {.text = fmt::format("{}: {}\n", spec.output,
                                base::human_bytes(static_cast<double>(report.bytes))) +
                    fmt::format("  /Nbody [4, {0}, {0}, {0}]  {1}  {2}\n"
                                "  /Hydro [5, {0}, {0}, {0}]  {1}  {3}\n",
                                spec.edge, layout, data::sum64_text(report.checksums[0]),
                                data::sum64_text(report.checksums[1])) +
                    fmt::format("Next: ranklab data verify {}\n", base::shell_path(spec.output))};
}

Runs make_images(const data::ImageFiles& set, const ImageFilesSpec& spec,
                 const RunContext& around) {
    data::make_images(around.control, set, spec.force, around.progress);
    std::string text;
    for (const auto& file : set.files) text += fmt::format("{}\n", file.path.string());
    return {.text = text +
                    fmt::format("Next: ranklab data verify {}\n", base::shell_path(spec.output))};
}

Runs make_tokens(const TokenFileSpec& spec, const RunContext& around) {
    data::make_tokens(around.control, spec, around.progress);
    return {.text = fmt::format("{}\nNext: ranklab train --model llama-debug --data tokens "
                                "--inputs {}; the loss cannot fall below {:.3f}\n",
                                spec.output, base::shell_path(spec.output), data::kTokenEntropy)};
}

// What differs between the image sets.
struct ImageSetText {
    const char* name;
    const char* summary;
    const char* directory;
    const char* train;
    const char* test;
    const char* examples;
    data::ImageFiles (*files)(const ImageFilesSpec&);
};

// The idx format counts images in 32 bits.
constexpr std::int64_t kMostImages = std::numeric_limits<std::int32_t>::max();

Experiment images_verb(const ImageSetText& text) {
    using S = ImageFilesSpec;
    return {
        .command = fmt::format("data make {}", text.name),
        .usage = "[DIR] [options]",
        .summary = text.summary,
        .examples = text.examples,
        .options =
            options::Schema()
                .positional(1)
                .section("Images")
                .text("output", &S::output, "DIR",
                      fmt::format("the folder to write into, also as argument DIR (default: {})",
                                  text.directory))
                .integer("train", &S::train, {1, kMostImages}, "training images")
                .integer("test", &S::test, {1, kMostImages}, "test images")
                .integer("seed", &S::seed, {0, options::kWholeNumbers},
                         "seed of the classes' patterns and of every sample")
                .flag("force", &S::force, "replace what is there already")
                .fallback("train", text.train)
                .fallback("test", text.test),
        .settle = [text](const auto& given, const auto& common, auto&) -> Plan {
            auto spec = given.template fields<ImageFilesSpec>();
            spec.output = output_of(given, 0, spec.output, text.directory);
            const auto set = text.files(spec);
            return {.settings = given.effective(spec, common),
                    .facts = {{"folder", spec.output, false},
                              {"bytes", fmt::to_string(set.bytes()), true}},
                    .run = [=](const auto& context) { return make_images(set, spec, context); }};
        }};
}

Experiment cosmology_verb() {
    using S = CosmologySpec;
    return {
        .command = "data make cosmology",
        .usage = "[FILE.h5] --edge L [options]",
        .summary =
            "Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, into one HDF5 file: "
            "noise with structure on many scales, and gas that is a smooth map of it.",
        .examples =
            "  ranklab data make cosmology --edge 128\n"
            "      cosmology-128.h5, as published (contiguous)\n"
            "  ranklab data make cosmology train.h5 --edge 512 --chunk 16\n"
            "      chunks that make 64-cubed crops cheap\n"
            "  srun -n 64 ranklab data make cosmology --edge 1024 --output train.h5 \\\n"
            "      --seed 7\n",
        .options =
            options::Schema()
                .positional(1)
                .section("Volume")
                .text("output", &S::output, "FILE",
                      "the file to make, also as argument FILE.h5 (default: cosmology-<edge>.h5)")
                .integer("edge", &S::edge, {2, 16384}, "cells along each axis")
                .integer("chunk", &S::chunk, 0,
                         "edge of a chunk, which holds all channels of a cube: 16 to 64; 0 for one "
                         "contiguous array, as published")
                .integer("seed", &S::seed, {0, options::kWholeNumbers},
                         "seed of the noise from which all fields come")
                .flag("force", &S::force, "replace what is there already")
                .no_option({"sigma", "speed", "cutoff", "gas-smoothing"},
                           "the standard deviation is 2 for ln(rho) and 0.3 for velocities; the "
                           "smallest structure is 4 cells, and gas is smoothed over 3"),
        .settle = [](const auto& given, const auto& common, auto&) -> Plan {
            auto spec = given.template fields<CosmologySpec>();
            if (spec.chunk > spec.edge)
                throw base::OptionError(
                    fmt::format("--chunk {} is longer than --edge {}; give a shorter --chunk",
                                spec.chunk, spec.edge));
            spec.output =
                output_of(given, 0, spec.output, fmt::format("cosmology-{}.h5", spec.edge));
            return {.settings = given.effective(spec, common),
                    .facts = {{"file", spec.output, false},
                              {"bytes", fmt::to_string(data::cosmology_bytes(spec)), true}},
                    .run = [=](const auto& context) { return make_cosmology(spec, context); }};
        }};
}

Experiment tokens_verb() {
    using S = TokenFileSpec;
    return {.command = "data make tokens",
            .usage = "[FILE.bin] [options]",
            .summary =
                "Writes a synthetic text of 64 symbols as tokens, in llm.c's format. Each token "
                "depends on the two before it and has 1.213 nats of entropy.",
            .examples =
                "  ranklab data make tokens                                    tokens.bin\n"
                "  mpirun -n 2 ranklab data make tokens text.bin --length 100000000\n",
            .options = options::Schema()
                           .positional(1)
                           .section("Text")
                           .text("output", &S::output, "FILE",
                                 "the file, also as argument FILE.bin (default: tokens.bin)")
                           .integer("length", &S::tokens, {1, (std::int64_t{1} << 31) - 1},
                                    "number of tokens")
                           .integer("seed", &S::seed, {0, options::kWholeNumbers},
                                    "seed of the text and of which tokens follow which")
                           .flag("force", &S::force, "replace what is there already")
                           .fallback("length", "4000000"),
            .settle = [](const auto& given, const auto& common, auto&) -> Plan {
                auto spec = given.template fields<TokenFileSpec>();
                spec.output = output_of(given, 0, spec.output, "tokens.bin");
                return {.settings = given.effective(spec, common),
                        .facts = {{"bytes", fmt::to_string(data::token_file_bytes(spec)), true}},
                        .run = [=](const auto& context) { return make_tokens(spec, context); }};
            }};
}

}  // namespace

std::vector<Experiment> make_verbs() {
    return {
        cosmology_verb(),
        images_verb(
            {.name = "cifar100",
             .summary = "Writes a synthetic set of 100 classes in CIFAR-100's binary format: "
                        "cifar-100-binary/train.bin and test.bin.",
             .directory = "data",
             .train = "50000",
             .test = "10000",
             .examples =
                 "  ranklab data make cifar100\n"
                 "      data/cifar-100-binary/, where train looks\n"
                 "  mpirun -n 2 ranklab data make cifar100 /scratch/me --train 5000 --test 1000\n",
             .files = data::cifar100_files}),
        images_verb(
            {.name = "mnist",
             .summary = "Writes a synthetic set of 10 classes in MNIST's idx format, four files; "
                        "Fashion-MNIST's is the same format.",
             .directory = "data/MNIST/raw",
             .train = "60000",
             .test = "10000",
             .examples =
                 "  ranklab data make mnist\n"
                 "      data/MNIST/raw/, where train looks\n"
                 "  mpirun -n 2 ranklab data make mnist --output /scratch/me/mnist --seed 7\n",
             .files = data::mnist_files}),
        tokens_verb()};
}

}  // namespace ranklab::experiments
