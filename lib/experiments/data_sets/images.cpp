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

data::ImageFilesSpec spec_of(const options::Options& options, const std::string& directory) {
    return {.directory = directory,
            .train = options.integer("train"),
            .test = options.integer("test"),
            .seed = static_cast<std::uint64_t>(options.integer("seed")),
            .force = options.flag("force")};
}

class MakeImages final : public Verb {
  public:
    explicit MakeImages(const ImageSetText& text) : text_(text) {}

    std::string words() const override { return fmt::format("make {}", text_.name); }
    std::string usage() const override { return "[DIR] [options]"; }
    std::string summary() const override { return text_.summary; }
    std::string examples() const override { return text_.examples; }
    void describe(options::Schema& schema) const override {
        schema.positional(1);
        schema.section("Images")
            .text("output", "DIR", std::nullopt,
                  fmt::format("the folder to write into; the same as the word DIR (default: {})",
                              text_.directory))
            .integer("train", 1, text_.train, "training images")
            .integer("test", 1, text_.test, "test images")
            .integer("seed", {0, options::kWholeNumbers}, "1",
                     "seed of the classes' patterns and of every sample")
            .flag("force", "replace what is there already");
    }
    std::vector<results::Setting> resolve(options::Options& options) const override {
        for (const char* split : {"train", "test"})
            if (options.integer(split) > std::numeric_limits<std::int32_t>::max())
                throw base::OptionError(fmt::format("--{} {} is more than the format can count",
                                                    split, options.integer(split)));
        const std::string place = place_of(options, 0, text_.directory);
        options.resolve("output", place);
        return {{"folder", place, false},
                {"bytes", fmt::format("{}", text_.bytes(spec_of(options, place))), true}};
    }
    ToolReport run(const ToolPlace& place) override {
        auto& [control, options, progress, start_up, counting] = place.context;
        const std::string directory = place_of(options, 0, options.text("output"));
        std::string text;
        for (const auto& file : text_.make(control, spec_of(options, directory), progress))
            text += fmt::format("{}\n", file.string());
        return {text + fmt::format("Next: ranklab data verify {}\n", base::shell_path(directory)),
                ""};
    }

  private:
    ImageSetText text_;
};

}  // namespace

std::unique_ptr<Verb> make_cifar100_verb() {
    return std::make_unique<MakeImages>(ImageSetText{
        .name = "cifar100",
        .summary = "Writes a synthetic set of 100 classes in CIFAR-100's binary format: "
                   "cifar-100-binary/train.bin and test.bin.",
        .directory = "data",
        .train = "50000",
        .test = "10000",
        .examples =
            "  ranklab data make cifar100                                  data/cifar-100-binary/, "
            "where train looks\n"
            "  mpirun -n 2 ranklab data make cifar100 /scratch/me --train 5000 --test 1000\n",
        .make = data::make_cifar100,
        .bytes = data::cifar100_bytes});
}

std::unique_ptr<Verb> make_mnist_verb() {
    return std::make_unique<MakeImages>(ImageSetText{
        .name = "mnist",
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
