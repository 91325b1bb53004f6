// Every data set gives the samples that data/source.hpp and data/dataset.hpp promise. The test of a
// set without installed files is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "contract_names.hpp"
#include "data/dataset.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {

RANKLAB_PRINTED_BY_NAME(SourceEntry)

namespace {

using ranklab::testing::world;

TEST(Sources, HaveGoodNames) {
    ranklab::testing::expect_good_names(sources());
}

/// The data that models ask for: a set serves at least one of these requests.
std::vector<DataRequest> requests() {
    return {{.input = {1, 28, 28}, .target = {}, .classes = 10, .directory = ""},
            {.input = {3, 32, 32}, .target = {}, .classes = 100, .directory = ""},
            {.input = {4, 32, 32, 32}, .target = {5, 32, 32, 32}, .directory = ""}};
}

bool names(const base::Error& error, const char* setting) {
    return std::ranges::count(error.settings(), setting) > 0;
}

struct Opened {
    DataRequest request;
    DataSet set;
};

class Source : public ::testing::TestWithParam<SourceEntry> {
  protected:
    /// The first request that the set serves here; the same on all ranks.
    std::optional<Opened> open(std::int64_t train = 0, std::int64_t test = 0) {
        for (auto request : requests()) {
            request.train_samples = train;
            request.test_samples = test;
            try {
                return Opened{request, GetParam().open(request, world())};
            } catch (const base::OptionError&) {  // another request suits this set
            } catch (const base::DataError& error) {
                if (names(error, "RANKLAB_DATA")) why_not_ = why_not_ + " " + error.what();
                // "data" alone: a set of other shapes, which another request suits.
                else if (!names(error, "data"))
                    throw;
            } catch (const comm::PeerError&) {  // rank 0 has the reason
            }
        }
        return std::nullopt;
    }
    std::string why_not_;
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Source, ::testing::ValuesIn(sources()),
                         ranklab::testing::test_name<SourceEntry>);

struct Bytes {
    std::vector<std::byte> input;
    std::vector<std::byte> target;
    bool operator==(const Bytes&) const = default;
};

Bytes read(const data::Source& source, Draw draw) {
    Bytes bytes{std::vector<std::byte>(source.layout().input.bytes()),
                std::vector<std::byte>(source.layout().target.bytes())};
    ReadTimes times;
    source.read(draw, bytes.input.data(), bytes.target.data(), times);
    EXPECT_GE(times.read + times.decode + times.augment, 0);
    return bytes;
}

void expect_classes(const data::Source& source, std::int64_t classes) {
    std::vector<std::int64_t> seen(static_cast<std::size_t>(classes), 0);
    for (std::int64_t i = 0; i < source.size(); ++i) {
        std::int64_t label = -1;
        std::memcpy(&label, read(source, {i, 0}).target.data(), sizeof label);
        ASSERT_GE(label, 0);
        ASSERT_LT(label, classes);
        ++seen[static_cast<std::size_t>(label)];
    }
    for (std::size_t label = 0; label < seen.size(); ++label)
        EXPECT_GT(seen[label], 0) << "no sample of class " << label;
}

void expect_numbers(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (const float value : values) ASSERT_TRUE(std::isfinite(value));
}

TEST_P(Source, GivesWhatTheModelTakes) {
    const auto opened = open();
    if (!opened) GTEST_SKIP() << "its files are not here:" << why_not_;
    for (const auto& source : {opened->set.train, opened->set.test}) {
        EXPECT_GT(source->size(), 0);
        EXPECT_EQ(source->layout().input.sizes, opened->request.input);
        EXPECT_EQ(source->layout().target.sizes, opened->request.target);
        if (opened->request.is_image()) {
            expect_classes(*source, opened->request.classes);
        } else {
            const auto sample = read(*source, {0, 7});
            expect_numbers(sample.input);
            expect_numbers(sample.target);
        }
    }
    EXPECT_GE(opened->set.train->size(), opened->set.test->size());
    EXPECT_FALSE(opened->set.origin.empty());
}

// Pixels in [0, 1] of about the stated mean and spread, so that a wrong one is seen.
TEST_P(Source, NormalisesAsItSays) {
    const auto opened = open();
    if (!opened || !opened->request.is_image()) GTEST_SKIP() << "no images here" << why_not_;
    const auto& mean = GetParam().pixel_mean;
    const auto channels = static_cast<std::size_t>(opened->request.input.front());
    ASSERT_TRUE(mean.size() == 1 || mean.size() == channels);
    ASSERT_EQ(GetParam().pixel_std.size(), mean.size());
    const std::int64_t samples = std::min<std::int64_t>(1000, opened->set.train->size());
    std::vector<double> sums(channels, 0);
    std::size_t plane = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
        const auto bytes = read(*opened->set.train, {i, 0}).input;
        plane = bytes.size() / channels;
        for (std::size_t p = 0; p < bytes.size(); ++p)
            sums[p / plane] += static_cast<double>(bytes[p]);
    }
    for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_NEAR(sums[c] / 255 / static_cast<double>(plane) / static_cast<double>(samples),
                    mean[c % mean.size()], 0.3);
        EXPECT_GT(GetParam().pixel_std[c % mean.size()], 0);
        EXPECT_LE(GetParam().pixel_std[c % mean.size()], 0.5) << "no spread in [0, 1] is larger";
    }
}

// A set that reads files says where it looked; one that makes its samples needs no folder.
TEST_P(Source, NamesTheFolderThatHoldsNothing) {
    const tests::TempFolder empty;
    std::string sentences;
    for (auto request : requests()) {
        request.directory = empty.path().string();
        try {
            if (GetParam().open(request, world()).train->size() > 0) return;
        } catch (const base::DataError& error) {
            sentences += tests::sentence_of(error);
        } catch (const base::Error&) {
        }
    }
    if (GetParam().own_files) GTEST_SKIP() << "the user names its files";
    if (world().rank() != 0) return;  // it is told once
    EXPECT_NE(sentences.find(empty.path().string()), std::string::npos) << sentences;
    EXPECT_NE(sentences.find("--data-dir"), std::string::npos) << sentences;
}

TEST_P(Source, GivesTheSameEachTime) {
    const auto first = open(200, 100);
    const auto again = open(200, 100);
    if (!first || !again) GTEST_SKIP() << "its files are not here:" << why_not_;
    EXPECT_EQ(first->set.train->size(), 200);
    EXPECT_EQ(first->set.test->size(), 100);
    for (const std::int64_t i : {0, 3, 57, 99}) {
        const Draw draw{i, random_of(1, 0, i)};
        EXPECT_EQ(read(*first->set.train, draw), read(*again->set.train, draw));
        EXPECT_EQ(read(*first->set.train, draw), read(*first->set.train, draw));
    }
}

}  // namespace
}  // namespace ranklab::data
