// The data set "cosmology", and synthetic volumes, on several ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "comm/exchange.hpp"
#include "data/dataset.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"
#include "unit/data/volume_files.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::VolumeWriter;
using ranklab::testing::world;
using ::testing::HasSubstr;

SourceEntry entry(const std::string& name) {
    for (auto& source : sources())
        if (source.name == name) return source;
    throw base::Error("no data set " + name);
}

DataRequest request_for(const std::string& place, std::int64_t edge = 8) {
    return {.input = {4, edge, edge, edge}, .target = {5, edge, edge, edge}, .directory = place};
}

/// Rank 0's folder, which all ranks see.
class Folder {
  public:
    Folder() : path_(comm::broadcast_text(world(), own_.path().string(), 0)) {}
    ~Folder() { world().barrier(); }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    std::string path() const { return path_.string(); }
    void make(const std::string& name, hsize_t edge, hsize_t nbody = 4) const {
        if (world().rank() == 0) VolumeWriter(path_ / name).add_both(edge, {}, nbody);
        world().barrier();
    }

  private:
    tests::TempFolder own_;
    std::filesystem::path path_;
};

/// The sentence of the error that all ranks threw. Its exit code must be `code` on each of them.
std::string refused(const DataRequest& request, base::ExitCode code,
                    const std::string& name = "cosmology") {
    std::string sentence;
    try {
        entry(name).open(request, world());
        ADD_FAILURE() << "it was taken";
    } catch (const base::Error& error) {
        sentence = tests::sentence_of(error);
        EXPECT_EQ(error.code(), code) << sentence;
    }
    return comm::broadcast_text(world(), sentence, 0);
}

std::vector<float> input_of(const Source& source, const Draw& draw) {
    std::vector<float> input(static_cast<std::size_t>(source.layout().input.elements()));
    std::vector<float> target(static_cast<std::size_t>(source.layout().target.elements()));
    ReadTimes times;
    source.read(draw, reinterpret_cast<std::byte*>(input.data()),
                reinterpret_cast<std::byte*>(target.data()), times);
    return input;
}

TEST(Cosmology, IsFoundUnderItsOwnAndThePublishedNamesAndAsOneFile) {
    const Folder folder;
    folder.make("train.h5", 16);
    folder.make("valid.h5", 8);
    const auto set = entry("cosmology").open(request_for(folder.path()), world());
    EXPECT_EQ(set.train->size(), 16 * 8);
    EXPECT_EQ(set.test->size(), 16);
    EXPECT_THAT(set.origin, HasSubstr("train.h5"));
    const Folder published;
    published.make("downsamp_2048crop_train.h5", 8);
    published.make("downsamp_1024crop_valid.h5", 8);
    EXPECT_EQ(entry("cosmology").open(request_for(published.path()), world()).train->size(), 16);
    auto one = request_for((folder / "train.h5").string());
    one.train_samples = 50;
    one.test_samples = 3;
    const auto both = entry("cosmology").open(one, world());
    EXPECT_EQ(both.train->size(), 50);
    EXPECT_EQ(both.test->size(), 3);
    one.volume.in_memory = true;
    const auto resident = entry("cosmology").open(one, world());
    EXPECT_THAT(resident.origin, HasSubstr("in memory"));
    EXPECT_EQ(input_of(*resident.train, {3, 77}), input_of(*both.train, {3, 77}));
}

TEST(Cosmology, TurnsTrainingCropsAndNotTheOthers) {
    const Folder folder;
    folder.make("v.h5", 8);
    auto request = request_for((folder / "v.h5").string());
    const auto set = entry("cosmology").open(request, world());
    request.volume.rotate = false;
    const auto still = entry("cosmology").open(request, world());
    int turned = 0;
    for (std::uint64_t random = 0; random < 30; ++random) {
        const auto plain = input_of(*still.train, {0, random});
        EXPECT_EQ(input_of(*set.test, {0, random}), plain);
        if (input_of(*set.train, {0, random}) != plain) ++turned;
    }
    EXPECT_GT(turned, 20);
}

TEST(Cosmology, RefusesWhatDoesNotFit) {
    const Folder folder;
    folder.make("v.h5", 8);
    folder.make("three.h5", 8, 3);
    const auto file = (folder / "v.h5").string();
    using base::ExitCode;
    EXPECT_THAT(refused(request_for(file, 9), ExitCode::wrong_data), HasSubstr("edge 9"));
    EXPECT_THAT(refused(request_for((folder / "three.h5").string()), ExitCode::wrong_data),
                HasSubstr("[3, 8, 8, 8]"));
    EXPECT_THAT(refused(request_for(folder.path()), ExitCode::wrong_data), HasSubstr("--data-dir"));
    EXPECT_THAT(refused(request_for((folder / "none").string()), ExitCode::wrong_data),
                HasSubstr("does not exist"));
    const DataRequest images{.input = {1, 28, 28}, .target = {}, .classes = 10, .directory = file};
    EXPECT_THAT(refused(images, ExitCode::usage), HasSubstr("--model unet3d"));
    auto few = request_for(file);
    few.train_samples = world().world_size() - 1;
    if (few.train_samples > 0) {
        EXPECT_THAT(refused(few, ExitCode::usage), HasSubstr("too few"));
    }
}

TEST(SyntheticVolumes, AreNormalAndDifferReally) {
    const auto set = entry("synthetic").open(request_for("", 16), world());
    EXPECT_EQ(set.train->layout(),
              (SampleLayout{{Element::f32, {4, 16, 16, 16}}, {Element::f32, {5, 16, 16, 16}}}));
    EXPECT_GT(set.train->size(), set.test->size());
    const auto numbers = input_of(*set.train, {0, 1});
    double sum = 0;
    double squares = 0;
    for (const float n : numbers) {
        sum += n;
        squares += n * n;
    }
    const auto count = static_cast<double>(numbers.size());
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
    EXPECT_EQ(numbers, input_of(*set.train, {7, 1})) << "by the random number alone";
    const auto other = input_of(*set.train, {0, 2});
    int equal = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) equal += numbers[i] == other[i] ? 1 : 0;
    EXPECT_LT(equal, 5);
    auto another_seed = request_for("", 16);
    another_seed.seed = 2;
    EXPECT_NE(input_of(*entry("synthetic").open(another_seed, world()).train, {0, 1}), numbers);
}

TEST(SyntheticVolumes, TooFewForTheRanksAreRefused) {
    auto request = request_for("");
    request.train_samples = world().world_size() - 1;
    if (request.train_samples > 0) {
        EXPECT_THAT(refused(request, base::ExitCode::usage, "synthetic"), HasSubstr("too few"));
    }
}

}  // namespace
}  // namespace ranklab::data
