#include "data/make/class_images.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace ranklab::data {
namespace {

TEST(ClassOfSample, HoldsEachClassOnceInARow) {
    for (const std::int64_t classes : {10, 100})
        for (std::int64_t group = 0; group < 20; ++group) {
            std::set<std::int64_t> seen;
            for (std::int64_t i = 0; i < classes; ++i)
                seen.insert(class_of_sample(5, Split::train, group * classes + i, classes));
            EXPECT_EQ(seen.size(), static_cast<std::size_t>(classes));
            EXPECT_EQ(*seen.begin(), 0);
            EXPECT_EQ(*seen.rbegin(), classes - 1);
        }
    EXPECT_NE(class_of_sample(5, Split::train, 0, 100), class_of_sample(5, Split::train, 100, 100))
        << "not one order for all";
}

// The mean image of each class, from some samples, and how many of others lie nearest to their own
// class's.
template <class Images>
double nearest_mean_accuracy(std::int64_t samples_a_class, std::int64_t tests) {
    const Images images(3);
    std::vector<double> means(Images::kClasses * Images::kBytes, 0.0);
    std::vector<std::uint8_t> image(Images::kBytes);
    for (std::int64_t i = 0; i < samples_a_class * Images::kClasses; ++i) {
        const auto label = class_of_sample(3, Split::train, i, Images::kClasses);
        images.draw(Split::train, i, label, image);
        for (std::size_t p = 0; p < image.size(); ++p)
            means[static_cast<std::size_t>(label) * Images::kBytes + p] +=
                image[p] / static_cast<double>(samples_a_class);
    }
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < tests; ++i) {
        const auto label = class_of_sample(3, Split::test, i, Images::kClasses);
        images.draw(Split::test, i, label, image);
        std::int64_t nearest = -1;
        double least = 1e300;
        for (std::int64_t c = 0; c < Images::kClasses; ++c) {
            double distance = 0;
            for (std::size_t p = 0; p < image.size(); ++p) {
                const double d = image[p] - means[static_cast<std::size_t>(c) * Images::kBytes + p];
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
    EXPECT_GT(nearest_mean_accuracy<ColourImages>(6, 200), 0.5);
    EXPECT_GT(nearest_mean_accuracy<StrokeImages>(20, 200), 0.8);
}

TEST(ClassImages, AreFunctionsOfSeedSplitAndNumber) {
    const auto draw = [](std::uint64_t seed, Split split, std::int64_t sample) {
        std::vector<std::uint8_t> image(ColourImages::kBytes);
        ColourImages(seed).draw(split, sample, 7, image);
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
