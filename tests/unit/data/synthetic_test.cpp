#include <gtest/gtest.h>

#include <algorithm>

#include "data/dataset.hpp"

namespace ranklab::data {
namespace {

DataSets make(std::uint64_t seed, const ImageShape& shape = {1, 28, 28}) {
    for (const auto& source : sources()) {
        if (source.name != "synthetic") continue;
        return source.load({.shape = shape,
                            .classes = 10,
                            .directory = "",
                            .seed = seed,
                            .synthetic_train = 300,
                            .synthetic_test = 100});
    }
    throw std::runtime_error("the catalogue lacks synthetic");
}

TEST(Synthetic, ASeedGivesTheSameBytes) {
    const auto first = make(1);
    const auto again = make(1);
    EXPECT_EQ(first.train.images, again.train.images);
    EXPECT_EQ(first.train.labels, again.train.labels);
    EXPECT_EQ(first.test.images, again.test.images);
    EXPECT_NE(first.train.images, make(2).train.images);
}

TEST(Synthetic, TrainAndTestAreOtherSamplesOfTheSameClasses) {
    const auto sets = make(1);
    EXPECT_EQ(sets.train.size(), 300);
    EXPECT_EQ(sets.test.size(), 100);
    EXPECT_FALSE(std::equal(sets.test.images.begin(), sets.test.images.end(), sets.train.images.begin()));
}

// The mean image of a class in the training set is nearest to the test samples of that class: there is
// something to learn.
TEST(Synthetic, CanBeLearned) {
    const auto sets = make(1);
    const auto pixels = static_cast<std::size_t>(sets.train.shape.bytes());
    std::vector<std::vector<double>> means(10, std::vector<double>(pixels, 0));
    std::vector<double> counts(10, 0);
    for (std::size_t i = 0; i < sets.train.labels.size(); ++i) {
        counts[sets.train.labels[i]] += 1;
        for (std::size_t p = 0; p < pixels; ++p)
            means[sets.train.labels[i]][p] += sets.train.images[i * pixels + p];
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < sets.test.labels.size(); ++i) {
        std::vector<double> distances;
        for (std::size_t c = 0; c < 10; ++c) {
            double distance = 0;
            for (std::size_t p = 0; p < pixels; ++p) {
                const double d = means[c][p] / std::max(1.0, counts[c]) - sets.test.images[i * pixels + p];
                distance += d * d;
            }
            distances.push_back(distance);
        }
        const auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
        right += nearest == sets.test.labels[i] ? 1 : 0;
    }
    EXPECT_GT(right, 90U);
}

TEST(Synthetic, TakesShapesThatAreNoMultipleOfItsBlocks) {
    const auto sets = make(1, {3, 30, 17});
    EXPECT_EQ(sets.train.images.size(), 300U * 3 * 30 * 17);
}

}  // namespace
}  // namespace ranklab::data
