#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/make/image_files.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

using Maker = std::vector<std::filesystem::path> (*)(comm::Communicator&,
                                                     const data::ImageFilesSpec&,
                                                     base::ProgressSink&);

// The differences of the image sets.
struct ImageSetText {
    const char* name;
    const char* summary;
    const char* directory;
    const char* train;
    const char* test;
    const char* examples;
    Maker make;
    std::uint64_t (*bytes)(const data::ImageFilesSpec&);
};

// The idx format counts images in 32 bits.
constexpr std::int64_t kMostImages = std::numeric_limits<std::int32_t>::max();

struct ImageSettings {
    std::optional<std::string> output;
    std::int64_t train = 0, test = 0, seed = 1;
    bool force = false;
};

ToolReport make(Maker maker, const data::ImageFilesSpec& spec, const RunContext& around) {
    std::string text;
    for (const auto& file : maker(around.control, spec, around.progress))
        text += fmt::format("{}\n", file.string());
    return {text + fmt::format("Next: ranklab data verify {}\n", base::shell_path(spec.directory)),
            ""};
}

Verb images_verb(const ImageSetText& text) {
    using S = ImageSettings;
    return {
        .words = fmt::format("make {}", text.name),
        .usage = "[DIR] [options]",
        .summary = text.summary,
        .examples = text.examples,
        .options = options::Schema()
                       .positional(1)
                       .section("Images")
                       .text("output", &S::output, "DIR",
                             fmt::format(
                                 "the folder to write into; the same as the word DIR (default: {})",
                                 text.directory))
                       .integer("train", &S::train, {1, kMostImages}, "training images")
                       .integer("test", &S::test, {1, kMostImages}, "test images")
                       .integer("seed", &S::seed, {0, options::kWholeNumbers},
                                "seed of the classes' patterns and of every sample")
                       .flag("force", &S::force, "replace what is there already")
                       .fallback("train", text.train)
                       .fallback("test", text.test),
        .settle = [text](const options::Options& given) -> ToolPlan {
            auto settings = given.fields<ImageSettings>();
            const std::string folder = output_of(given, 0, settings.output, text.directory);
            settings.output = folder;
            const data::ImageFilesSpec spec{.directory = folder,
                                            .train = settings.train,
                                            .test = settings.test,
                                            .seed = static_cast<std::uint64_t>(settings.seed),
                                            .force = settings.force};
            return {
                settings_of(given.effective(settings)),
                {{"folder", folder, false}, {"bytes", fmt::format("{}", text.bytes(spec)), true}},
                [spec, maker = text.make](const ToolPlace& place) {
                    return make(maker, spec, place.context);
                }};
        }};
}

}  // namespace

Verb make_cifar100_verb() {
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
         .make = data::make_cifar100,
         .bytes = data::cifar100_bytes});
}

Verb make_mnist_verb() {
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
         .make = data::make_mnist,
         .bytes = data::mnist_bytes});
}

}  // namespace ranklab::experiments
