#include "experiments/data_sets/data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/tools.hpp"

namespace ranklab::experiments {
namespace {

// Returns positional argument number `word`, or else `output` (--output), or else `fallback`.
// Throws OptionError if both the argument and --output are given.
std::string output_of(const options::Options& given, std::size_t word, const std::string& output,
                      const std::string& fallback) {
    const auto& words = given.positional();
    if (word >= words.size()) return output.empty() ? fallback : output;
    if (output.empty()) return words[word];
    throw base::OptionError(fmt::format(
        "the output is given twice: '{}' and --output {}; give one of them", words[word], output));
}

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

std::string table_of(const std::vector<data::FileVerdict>& verdicts) {
    std::size_t width = 4;
    for (const auto& v : verdicts) width = std::max(width, v.file.size());
    std::string text = fmt::format("{:<{}}  {:<7} {:<17} {}\n", "file", width, "result", "kind",
                                   "content; checked");
    for (const auto& v : verdicts) {
        const std::string detail = v.content.empty() || v.checked.empty()
                                       ? v.content + v.checked
                                       : v.content + "; " + v.checked;
        text += fmt::format("{:<{}}  {:<7} {:<17} {}\n", v.file, width,
                            v.wrong.empty() ? "valid" : "INVALID",
                            v.kind.empty() ? "unknown" : v.kind, v.wrong.empty() ? detail : "");
    }
    return text;
}

Runs verify(const std::string& path, const RunContext& around) {
    const auto verdicts = data::verify(around.control, path, around.progress);
    Runs report{.text = table_of(verdicts)};
    std::string wrong;
    std::size_t bad = 0;
    for (const auto& v : verdicts)
        if (!v.wrong.empty() && ++bad == 1) wrong = v.wrong;
    if (bad > 1) wrong += fmt::format(" ({} of {} files are invalid)", bad, verdicts.size());
    try {
        if (bad > 0) comm::throw_on_all<base::DataError>(around.control, 0, wrong);
    } catch (const base::Error&) {
        report.failure = std::current_exception();
    }
    return report;
}

Experiment verify_verb() {
    return {.command = "data verify",
            .usage = "FILE|DIR [options]",
            .summary =
                "Says what a data file is and checks all of it: idx, CIFAR-100 binary, cosmology "
                "HDF5, npy; in a folder, every such file.",
            .examples =
                "  ranklab data verify data/cifar-100-binary\n"
                "  ranklab data verify cosmology-128.h5\n"
                "      form, every value, checksum\n"
                "  mpirun -n 4 ranklab data verify train.h5\n"
                "      the same, read by four ranks\n",
            .options = options::Schema().positional(1, 1),
            .settle = [](const auto& given, const auto& common, auto&) -> Plan {
                const std::string path = given.positional().front();
                return {.settings = given.effective(common),
                        .facts = {{"path", path, false}},
                        .run = [path](const auto& context) { return verify(path, context); }};
            }};
}

bool is_hdf5_name(const std::string& name) {
    return name.ends_with(".h5") || name.ends_with(".hdf5");
}

// Throws OptionError for a conversion that is impossible.
data::ConvertSpec spec_of(const options::Options& given) {
    auto spec = given.fields<data::ConvertSpec>();
    spec.output = output_of(given, 1, spec.output, "");
    if (given.positional().empty() || spec.output.empty())
        throw base::OptionError(
            "convert needs an input and an output: ranklab data convert x_data.npy,x_label.npy "
            "x.h5");
    for (const auto& name : base::split(given.positional().front(), ','))
        spec.inputs.emplace_back(name);
    if (spec.dataset && spec.dataset->empty()) spec.dataset.reset();
    const bool to_npy = is_hdf5_name(spec.inputs.front().string());
    if (to_npy && (spec.inputs.size() > 1 || spec.dataset || spec.chunk != 0))
        throw base::OptionError("from HDF5 to npy give one input; leave --dataset and --chunk out");
    if (spec.dataset && (spec.inputs.size() > 1 || spec.dataset->find('/') != std::string::npos))
        throw base::OptionError(
            "--dataset names the dataset of one npy file; give one input, and a name without /");
    if (!to_npy && !is_hdf5_name(spec.output))
        throw base::OptionError(
            fmt::format("'{}' does not end in .h5; npy files become one HDF5 file", spec.output));
    return spec;
}

Experiment convert_verb() {
    using S = data::ConvertSpec;
    return {
        .command = "data convert",
        .usage = "IN.npy[,IN2.npy] OUT.h5 | IN.h5 STEM [options]",
        .summary =
            "Turns npy volumes [D, H, W, C] into HDF5 datasets [C, D, H, W] (C = 4: /Nbody, C = "
            "5: /Hydro), or a cosmology file into STEM_data.npy and STEM_label.npy.",
        .examples =
            "  ranklab data convert train_data.npy,train_label.npy train.h5\n"
            "      /Nbody and /Hydro\n"
            "  mpirun -n 4 ranklab data convert train_data.npy,train_label.npy train.h5 \\\n"
            "      --chunk 16\n"
            "  ranklab data convert density.npy density.h5 --dataset density\n"
            "      any channels, one dataset\n"
            "  ranklab data convert train.h5 train\n"
            "      train_data.npy, train_label.npy\n",
        .options =
            options::Schema()
                .positional(2)
                .section("Conversion")
                .text("output", &S::output, "FILE", "the file to make, also as second argument")
                .integer("chunk", &S::chunk, 0,
                         "edge of a chunk of the HDF5 datasets; 0 for contiguous ones")
                .text("dataset", &S::dataset, "NAME",
                      "the HDF5 dataset to store one npy file in (default: Nbody for 4 channels, "
                      "Hydro for 5)")
                .flag("force", &S::force, "replace what is there already"),
        .settle = [](const auto& given, const auto& common, auto&) -> Plan {
            const auto spec = spec_of(given);
            const bool to_npy = is_hdf5_name(spec.inputs.front().string());
            return {
                .settings = given.effective(spec, common),
                .facts = {{"from", given.positional().front(), false}, {"to", spec.output, false}},
                .run = [spec, make = to_npy ? data::hdf5_to_npy
                                            : data::npy_to_hdf5](const auto& around) -> Runs {
                    return {.text = make(around.control, spec, around.progress)};
                }};
        }};
}

}  // namespace

Tool data_sets_tool() {
    Tool tool{
        "data",
        "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
        "depend on the number of ranks.",
        {cosmology_verb(),
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
         tokens_verb(), verify_verb(), convert_verb()}};
    for (auto& verb : tool.verbs) {
        verb.makes_runs = false;
        verb.settle = [settle = verb.settle](const auto& given, const auto& common, auto& control) {
            Plan plan;
            comm::all_or_throw(control, [&] { plan = settle(given, common, control); });
            return plan;
        };
    }
    return tool;
}

}  // namespace ranklab::experiments
