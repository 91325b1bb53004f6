#include "data/make/class_images.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace ranklab::data {
namespace {

TEST(ClassOf, HoldsEachClassOnceInAGroup) {
    for (const auto& images : {ClassImages::strokes(5), ClassImages::colour(5)}) {
        for (std::int64_t group = 0; group < 20; ++group) {
            std::set<std::int64_t> seen;
            for (std::int64_t i = 0; i < images.classes(); ++i)
                seen.insert(images.class_of(Split::train, group * images.classes() + i));
            EXPECT_EQ(std::ssize(seen), images.classes());
            EXPECT_EQ(*seen.begin(), 0);
            EXPECT_EQ(*seen.rbegin(), images.classes() - 1);
        }
    }
    const auto images = ClassImages::colour(5);
    EXPECT_NE(images.class_of(Split::train, 0), images.class_of(Split::train, 100));
}

// The mean image of each class, from some samples, and how many of others lie nearest to their own
// class's.
double nearest_mean_accuracy(const ClassImages& images, std::int64_t samples_a_class,
                             std::int64_t tests) {
    std::vector<double> means(static_cast<std::size_t>(images.classes()) * images.bytes(), 0.0);
    std::vector<std::uint8_t> image(images.bytes());
    for (std::int64_t i = 0; i < samples_a_class * images.classes(); ++i) {
        const auto label = images.class_of(Split::train, i);
        images.draw(Split::train, i, label, image.data());
        for (std::size_t p = 0; p < image.size(); ++p)
            means[static_cast<std::size_t>(label) * image.size() + p] +=
                image[p] / static_cast<double>(samples_a_class);
    }
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < tests; ++i) {
        const auto label = images.class_of(Split::test, i);
        images.draw(Split::test, i, label, image.data());
        std::int64_t nearest = -1;
        double least = 1e300;
        for (std::int64_t c = 0; c < images.classes(); ++c) {
            double distance = 0;
            for (std::size_t p = 0; p < image.size(); ++p) {
                const double d = image[p] - means[static_cast<std::size_t>(c) * image.size() + p];
                distance += d * d;
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        right += nearest == label ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(tests);
}

// There is something to learn: the simplest classifier does far better than chance (0.01 and 0.1).
TEST(ClassImages, CanBeToldApart) {
    EXPECT_GT(nearest_mean_accuracy(ClassImages::colour(3), 6, 200), 0.5);
    EXPECT_GT(nearest_mean_accuracy(ClassImages::strokes(3), 20, 200), 0.8);
}

TEST(ClassImages, AreFunctionsOfSeedSplitAndNumber) {
    const auto draw = [](std::uint64_t seed, Split split, std::int64_t sample) {
        const auto images = ClassImages::colour(seed);
        std::vector<std::uint8_t> image(images.bytes());
        images.draw(split, sample, 7, image.data());
        return image;
    };
    const auto one = draw(1, Split::train, 0);
    EXPECT_EQ(one, draw(1, Split::train, 0));
    EXPECT_NE(one, draw(2, Split::train, 0));
    EXPECT_NE(one, draw(1, Split::test, 0));
    EXPECT_NE(one, draw(1, Split::train, 1));
}

}  // namespace
}  // namespace ranklab::data
