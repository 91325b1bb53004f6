#include "data/sources/cosmology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.hpp"
#include "data/loader.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"
#include "volume_files.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::Layout;
using ranklab::testing::place_number;
using ranklab::testing::VolumeWriter;
using ::testing::HasSubstr;

struct Sample {
    std::vector<float> input;
    std::vector<float> target;
    bool operator==(const Sample&) const = default;
};

Sample read(const Source& source, std::uint64_t random, ReadTimes* times = nullptr) {
    ReadTimes spent;
    Sample sample{
        std::vector<float>(static_cast<std::size_t>(source.layout().input.elements()), -7.0F),
        std::vector<float>(static_cast<std::size_t>(source.layout().target.elements()), -7.0F)};
    source.read({0, random}, reinterpret_cast<std::byte*>(sample.input.data()),
                reinterpret_cast<std::byte*>(sample.target.data()),
                times != nullptr ? *times : spent);
    return sample;
}

/// The crop number by number, from the definitions of places and rotations.
std::vector<float> crop_plainly(bool hydro, std::int64_t channels, std::int64_t volume,
                                std::int64_t edge, const CropPlace& place) {
    std::vector<float> out;
    std::array<std::int64_t, 3> o{};
    for (std::int64_t c = 0; c < channels; ++c)
        for (o[0] = 0; o[0] < edge; ++o[0])
            for (o[1] = 0; o[1] < edge; ++o[1])
                for (o[2] = 0; o[2] < edge; ++o[2]) {
                    std::array<std::int64_t, 3> i = place.start;
                    for (std::size_t k = 0; k < 3; ++k)
                        i[static_cast<std::size_t>(place.rotation.from[k])] +=
                            place.rotation.sign[k] > 0 ? o[k] : edge - 1 - o[k];
                    out.push_back(place_number(hydro, c, i[0], i[1], i[2], volume));
                }
    return out;
}

struct Stored {
    const char* name;
    Layout layout;
    hsize_t user_block;
    bool direct;
};

const std::vector<Stored>& layouts() {
    static const std::vector<Stored> all{
        {"contiguous", {}, 0, true},
        {"aligned chunks", {.chunk = {5, 8, 8, 8}}, 0, true},
        {"chunks of one channel", {.chunk = {1, 4, 4, 4}}, 0, true},
        {"chunks that do not divide it", {.chunk = {2, 5, 7, 9}}, 0, true},
        {"one chunk", {.chunk = {5, 12, 12, 12}}, 0, true},
        {"deflated", {.chunk = {5, 8, 8, 8}, .deflate = true}, 0, false},
        {"big-endian", {.big_endian = true}, 0, false},
        {"user block", {}, 512, false},
        {"chunks behind a user block", {.chunk = {5, 8, 8, 8}}, 512, false},
    };
    return all;
}

TEST(Crops, HoldTheRightNumbersInEveryLayoutAndByBothAccesses) {
    constexpr std::int64_t kVolume = 12;
    const tests::TempFolder folder;
    for (const auto& stored : layouts()) {
        const auto path = folder / (std::string(stored.name) + ".h5");
        VolumeWriter(path, stored.user_block).add_both(kVolume, stored.layout);
        for (const bool in_memory : {true, false}) {
            if (!stored.direct && !in_memory) {
                EXPECT_THAT(tests::thrown_sentence<base::DataError>(
                                [&] { const VolumeFile file(path, false); }),
                            HasSubstr("inmem"));
                continue;
            }
            const auto file = std::make_shared<const VolumeFile>(path, in_memory);
            EXPECT_EQ(file->edge(), kVolume);
            for (const std::int64_t edge : {1, 9, 12}) {
                const auto source = crop_source(file, {edge, 1, true, false});
                for (std::uint64_t random = 0; random < 3; ++random) {
                    const auto place = crop_place(random, kVolume, edge, true);
                    const auto sample = read(*source, random);
                    EXPECT_EQ(sample.input, crop_plainly(false, 4, kVolume, edge, place))
                        << stored.name << edge;
                    EXPECT_EQ(sample.target, crop_plainly(true, 5, kVolume, edge, place))
                        << stored.name << edge;
                }
            }
        }
    }
}

TEST(Crops, FollowFromTheRandomNumberAlone) {
    const tests::TempFolder folder;
    VolumeWriter(folder / "v.h5").add_both(12);
    const auto file = std::make_shared<const VolumeFile>(folder / "v.h5", false);
    const auto source = crop_source(file, {8, 100, true, true});
    EXPECT_EQ(source->size(), 100);
    EXPECT_EQ(source->layout(),
              (SampleLayout{{Element::f32, {4, 8, 8, 8}}, {Element::f32, {5, 8, 8, 8}}}));
    EXPECT_EQ(read(*source, 5), read(*source, 5));
    EXPECT_NE(read(*source, 5), read(*source, 6));
}

TEST(CropPlace, ReachesBothEndsAndAllRotations) {
    std::set<std::int64_t> starts;
    std::vector<int> turns(24, 0);
    constexpr int kDraws = 24000;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const auto place = crop_place(random_of(3, 0, static_cast<std::int64_t>(i)), 10, 7, true);
        starts.insert(place.start.begin(), place.start.end());
        const auto& all = rotations();
        ++turns[static_cast<std::size_t>(std::find(all.begin(), all.end(), place.rotation) -
                                         all.begin())];
    }
    EXPECT_EQ(starts, (std::set<std::int64_t>{0, 1, 2, 3}));
    for (const int n : turns)
        EXPECT_NEAR(n, kDraws / 24, 200) << "uniform: 6 standard deviations are 190";
    EXPECT_EQ(crop_place(1, 7, 7, false).start, (std::array<std::int64_t, 3>{}))
        << "a crop of the whole";
    EXPECT_EQ(crop_place(1, 10, 7, false).rotation, Rotation{});
    EXPECT_EQ(crop_place(1, 10, 7, false).start, crop_place(1, 10, 7, true).start);
}

TEST(UsualSamples, AreThePublishedOnes) {
    EXPECT_EQ(usual_samples(1024, 64), 65536);
    EXPECT_EQ(usual_samples(512, 64), 8192);
    EXPECT_EQ(usual_samples(64, 64), 16);
    EXPECT_EQ(usual_samples(100, 64), 16);
}

/// Channels: density by place, then a velocity that points away from the volume's middle: turned
/// whole, a crop of all of it is the same field again; turned by places alone, it is not.
std::vector<float> radial(std::int64_t channels, std::int64_t edge) {
    std::vector<float> numbers;
    const auto from_middle = [&](std::int64_t i) { return static_cast<float>(2 * i - (edge - 1)); };
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t x = 0; x < edge; ++x)
            for (std::int64_t y = 0; y < edge; ++y)
                for (std::int64_t z = 0; z < edge; ++z) {
                    const std::array<float, 3> r{from_middle(x), from_middle(y), from_middle(z)};
                    const bool is_velocity = c >= 1 && c <= 3;
                    numbers.push_back(is_velocity ? r[static_cast<std::size_t>(c - 1)]
                                                  : r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
                }
    return numbers;
}

TEST(RotateVectors, KeepsARadialFieldWhatItIs) {
    constexpr hsize_t kEdge = 10;
    const tests::TempFolder folder;
    {
        VolumeWriter writer(folder / "v.h5");
        writer.add("Nbody", {4, kEdge, kEdge, kEdge}, radial(4, kEdge));
        writer.add("Hydro", {5, kEdge, kEdge, kEdge}, radial(5, kEdge));
    }
    const auto file = std::make_shared<const VolumeFile>(folder / "v.h5", false);
    const auto with = crop_source(file, {kEdge, 1, true, true});
    const auto without = crop_source(file, {kEdge, 1, true, false});
    const Sample field{radial(4, kEdge), radial(5, kEdge)};
    int turned = 0;
    for (std::uint64_t random = 0; random < 100; ++random) {
        EXPECT_EQ(read(*with, random), field);
        if (crop_place(random, kEdge, kEdge, true).rotation == Rotation{}) continue;
        ++turned;
        EXPECT_NE(read(*without, random), field);
    }
    EXPECT_GT(turned, 80);
}

TEST(Crops, TellReadingFromTurning) {
    const tests::TempFolder folder;
    VolumeWriter(folder / "v.h5").add_both(32);
    const auto file = std::make_shared<const VolumeFile>(folder / "v.h5", false);
    ReadTimes plain;
    ReadTimes turned;
    read(*crop_source(file, {32, 1, false, false}), 1, &plain);
    std::uint64_t random = 0;
    while (crop_place(random, 32, 32, true).rotation.keeps_rows()) ++random;
    read(*crop_source(file, {32, 1, true, false}), random, &turned);
    EXPECT_GT(plain.read, 0);
    EXPECT_EQ(plain.augment, 0);
    EXPECT_GT(turned.read, 0);
    EXPECT_GT(turned.augment, 0);
    EXPECT_EQ(turned.decode, 0);
}

TEST(Crops, AreTheSameFromAnyNumberOfWorkers) {
    const tests::TempFolder folder;
    VolumeWriter(folder / "v.h5").add_both(16, {.chunk = {5, 8, 8, 8}});
    VolumeWriter(folder / "d.h5").add_both(16, {.chunk = {5, 8, 8, 8}, .deflate = true});
    for (const char* name : {"v.h5", "d.h5"}) {
        {
            const auto file = std::make_shared<const VolumeFile>(folder / name, *name == 'd');
            const auto source = crop_source(file, {9, 1, true, true});
            const auto plan = [](std::int64_t b) {
                return std::vector<Draw>{{0, random_of(1, 0, 2 * b)},
                                         {1, random_of(1, 0, 2 * b + 1)}};
            };
            for (const int workers : {0, 1, 3}) {
                Loader loader(*source,
                              {.workers = workers, .prefetch = 2, .batch = 2, .allocate = {}});
                loader.start(plan, 0, 10);
                for (std::int64_t b = 0; b < 10; ++b) {
                    const auto& batch = loader.next();
                    const auto expected = read(*source, plan(b)[1].random);
                    EXPECT_EQ(std::memcmp(batch.input.get() + source->layout().input.bytes(),
                                          expected.input.data(), source->layout().input.bytes()),
                              0);
                    EXPECT_EQ(std::memcmp(batch.target.get() + source->layout().target.bytes(),
                                          expected.target.data(), source->layout().target.bytes()),
                              0);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ranklab::data
