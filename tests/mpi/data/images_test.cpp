#include "data/images.hpp"

#include <gtest/gtest.h>

#include "comm/exchange.hpp"
#include "data_samples.hpp"
#include "mpi_world.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::image_of;
using ranklab::testing::images_of;
using ranklab::testing::world;
using Bytes = std::vector<std::uint8_t>;

const DataRequest kRequest{.input = {1, 2, 2}, .target = {}, .classes = 4, .directory = ""};

ImageSets two_images() {
    return {{{1, 2, 2}, 4, {1, 2, 3, 4, 5, 6, 7, 8}, {3, 1}}, {{1, 2, 2}, 4, {}, {}}, "somewhere"};
}

TEST(OpenImages, RankZeroReadsAndAllHaveIt) {
    int loads = 0;
    const auto set = open_images(kRequest, world(), [&] {
        ++loads;
        return two_images();
    });
    EXPECT_EQ(loads, world().rank() == 0 ? 1 : 0) << "the other ranks touch no file";
    ASSERT_EQ(set.train->size(), 2);
    EXPECT_EQ(image_of(*set.train, 0), (ranklab::testing::ImageSample{{1, 2, 3, 4}, 3}));
    EXPECT_EQ(image_of(*set.train, 1, 99), (ranklab::testing::ImageSample{{5, 6, 7, 8}, 1}));
    EXPECT_EQ(set.train->layout(), (SampleLayout{{Element::u8, {1, 2, 2}}, {Element::i64, {}}}));
    EXPECT_EQ(set.test->size(), 0);
    EXPECT_EQ(set.origin, "somewhere");
}

TEST(OpenImages, BadFilesEndAllRanksWithOneCode) {
    try {
        open_images(kRequest, world(),
                    []() -> ImageSets { throw base::DataError("labels.gz is truncated"); });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
        const bool is_peer = dynamic_cast<const comm::PeerError*>(&error) != nullptr;
        EXPECT_EQ(is_peer, world().rank() != 0);
    }
}

TEST(OpenImages, RefusesMoreSamplesThanThereAreAndVolumes) {
    auto request = kRequest;
    request.train_samples = 1;
    EXPECT_EQ(open_images(request, world(), two_images).train->size(), 1);
    const auto refuses = [&](const char* what) {
        try {
            open_images(request, world(), two_images);
            ADD_FAILURE() << what;
        } catch (const base::Error& error) {
            EXPECT_EQ(error.code(), base::ExitCode::usage) << error.what();
        }
    };
    request.train_samples = 3;
    refuses("three of two samples");
    request = kRequest;
    request.input = {4, 8, 8, 8};
    request.target = {5, 8, 8, 8};
    refuses("volumes");
}

TEST(Images, AreResizedToTheModelsShape) {
    const ImageSet flat{{2, 2, 2}, 4, {10, 10, 10, 10, 200, 200, 200, 200}, {1}};
    const auto source = image_source(flat, {2, 3, 5});
    const auto sample = image_of(*source, 0);
    EXPECT_EQ(sample.pixels, [] {
        Bytes expected(15, 10);
        expected.insert(expected.end(), 15, 200);
        return expected;
    }()) << "a flat image stays flat, plane by plane";
}

}  // namespace
}  // namespace ranklab::data
