#include <gtest/gtest.h>

#include <algorithm>

#include "data/dataset.hpp"
#include "data_samples.hpp"
#include "mpi_world.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::images_of;
using ranklab::testing::world;

DataSet make(std::uint64_t seed, const std::vector<std::int64_t>& input = {1, 28, 28}) {
    for (const auto& source : sources()) {
        if (source.name != "synthetic") continue;
        return source.open({.input = input,
                            .target = {},
                            .classes = 10,
                            .directory = "",
                            .seed = seed,
                            .train_samples = 300,
                            .test_samples = 100},
                           world());
    }
    throw std::runtime_error("the catalogue lacks synthetic");
}

TEST(Synthetic, ASeedGivesTheSameBytes) {
    const auto first = make(1);
    const auto again = make(1);
    EXPECT_EQ(images_of(*first.train), images_of(*again.train));
    EXPECT_EQ(images_of(*first.test), images_of(*again.test));
    EXPECT_NE(images_of(*first.train), images_of(*make(2).train));
}

TEST(Synthetic, TrainAndTestAreOtherSamplesOfTheSameClasses) {
    const auto sets = make(1);
    EXPECT_EQ(sets.train->size(), 300);
    EXPECT_EQ(sets.test->size(), 100);
    const auto train = images_of(*sets.train);
    for (const auto& test : images_of(*sets.test))
        EXPECT_EQ(std::find(train.begin(), train.end(), test), train.end());
}

// The mean image of a class in the training set is nearest to the test samples of that class: there
// is something to learn.
TEST(Synthetic, CanBeLearned) {
    const auto sets = make(1);
    const auto pixels = sets.train->layout().input.bytes();
    std::vector<std::vector<double>> means(10, std::vector<double>(pixels, 0));
    std::vector<double> counts(10, 0);
    for (const auto& sample : images_of(*sets.train)) {
        const auto label = static_cast<std::size_t>(sample.label);
        counts[label] += 1;
        for (std::size_t p = 0; p < pixels; ++p) means[label][p] += sample.pixels[p];
    }
    std::size_t right = 0;
    for (const auto& sample : images_of(*sets.test)) {
        std::vector<double> distances;
        for (std::size_t c = 0; c < 10; ++c) {
            double distance = 0;
            for (std::size_t p = 0; p < pixels; ++p) {
                const double d = means[c][p] / std::max(1.0, counts[c]) - sample.pixels[p];
                distance += d * d;
            }
            distances.push_back(distance);
        }
        const auto nearest =
            std::min_element(distances.begin(), distances.end()) - distances.begin();
        right += nearest == sample.label ? 1 : 0;
    }
    EXPECT_GT(right, 90U);
}

TEST(Synthetic, TakesShapesThatAreNoMultipleOfItsBlocks) {
    const auto sets = make(1, {3, 30, 17});
    EXPECT_EQ(sets.train->layout().input.bytes(), 3U * 30 * 17);
    EXPECT_NE(images_of(*sets.train).front(), images_of(*sets.train).back());
}

}  // namespace
}  // namespace ranklab::data
