#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/make/tools.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

using data::ImageFilesSpec;

// What differs between the image sets.
struct ImageSetText {
    const char* name;
    const char* summary;
    const char* directory;
    const char* train;
    const char* test;
    const char* examples;
    data::ImageFiles (*files)(const std::filesystem::path& directory, const ImageFilesSpec&);
};

// The idx format counts images in 32 bits.
constexpr std::int64_t kMostImages = std::numeric_limits<std::int32_t>::max();

Runs make(const data::ImageFiles& set, const std::string& folder, bool force,
          const RunContext& around) {
    data::make_images(around.control, set, force, around.progress);
    std::string text;
    for (const auto& split : set.splits)
        for (const auto& file : split.files) text += fmt::format("{}\n", file.path.string());
    return {.text = text + fmt::format("Next: ranklab data verify {}\n", base::shell_path(folder))};
}

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
                .text("output", &OutputSettings::output, "DIR",
                      fmt::format("the folder to write into, also as argument DIR (default: {})",
                                  text.directory))
                .integer("train", &S::train, {1, kMostImages}, "training images")
                .integer("test", &S::test, {1, kMostImages}, "test images")
                .integer("seed", &S::seed, {0, options::kWholeNumbers},
                         "seed of the classes' patterns and of every sample")
                .flag("force", &OutputSettings::force, "replace what is there already")
                .fallback("train", text.train)
                .fallback("test", text.test),
        .settle = [text](const auto& given, const auto& common, auto&) -> Plan {
            const auto spec = given.template fields<ImageFilesSpec>();
            auto to = given.template fields<OutputSettings>();
            const std::string folder = output_of(given, 0, to.output, text.directory);
            to.output = folder;
            const auto set = text.files(folder, spec);
            return {
                .settings = given.effective(to, spec, common),
                .facts = {{"folder", folder, false}, {"bytes", fmt::to_string(set.bytes()), true}},
                .run = [=](const auto& context) { return make(set, folder, to.force, context); }};
        }};
}

}  // namespace

Experiment make_cifar100_verb() {
    return images_verb(
        {.name = "cifar100",
         .summary = "Writes a synthetic set of 100 classes in CIFAR-100's binary format: "
                    "cifar-100-binary/train.bin and test.bin.",
         .directory = "data",
         .train = "50000",
         .test = "10000",
         .examples =
             "  ranklab data make cifar100                                  "
             "data/cifar-100-binary/, "
             "where train looks\n"
             "  mpirun -n 2 ranklab data make cifar100 /scratch/me --train 5000 --test 1000\n",
         .files = data::cifar100_files});
}

Experiment make_mnist_verb() {
    return images_verb(
        {.name = "mnist",
         .summary = "Writes a synthetic set of 10 classes in MNIST's idx format, four files; "
                    "Fashion-MNIST's is the same format.",
         .directory = "data/MNIST/raw",
         .train = "60000",
         .test = "10000",
         .examples =
             "  ranklab data make mnist                                     data/MNIST/raw/, where "
             "train looks\n"
             "  mpirun -n 2 ranklab data make mnist --output /scratch/me/mnist --seed 7\n",
         .files = data::mnist_files});
}

}  // namespace ranklab::experiments
