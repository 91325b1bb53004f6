// Every data source gives sets that hold what data/dataset.hpp says. Where a source's files are not installed
// the test is skipped, and says so.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "contract_names.hpp"
#include "data/dataset.hpp"
#include "temp_folder.hpp"

namespace ranklab::data {

RANKLAB_PRINTED_BY_NAME(SourceEntry)

namespace {

TEST(Sources, HaveGoodNames) {
    ranklab::testing::expect_good_names(sources());
}

class Source : public ::testing::TestWithParam<SourceEntry> {
  protected:
    // Of MNIST's shape: the one that all sources serve today.
    const DataRequest request_{.shape = {1, 28, 28}, .classes = 10, .directory = ""};
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Source, ::testing::ValuesIn(sources()),
                         ranklab::testing::test_name<SourceEntry>);

void expect_whole(const ImageSet& set, const DataRequest& request) {
    EXPECT_GT(set.size(), 0);
    EXPECT_EQ(set.shape, request.shape);
    EXPECT_EQ(set.classes, request.classes);
    EXPECT_EQ(static_cast<std::int64_t>(set.images.size()), set.size() * request.shape.bytes());
    std::vector<std::int64_t> seen(static_cast<std::size_t>(request.classes), 0);
    for (const auto label : set.labels) {
        if (label < request.classes) ++seen[label];
        EXPECT_LT(label, request.classes);
    }
    for (std::size_t label = 0; label < seen.size(); ++label)
        EXPECT_GT(seen[label], 0) << "no sample of class " << label;
}

TEST_P(Source, GivesWholeSets) {
    DataSets sets;
    try {
        sets = GetParam().load(request_);
    } catch (const base::DataError& error) {
        GTEST_SKIP() << "its files are not here: " << error.what();
    }
    expect_whole(sets.train, request_);
    expect_whole(sets.test, request_);
    EXPECT_GE(sets.train.size(), sets.test.size());
    EXPECT_FALSE(sets.origin.empty());

    // The normalisation: pixels in [0, 1] of about that mean and spread, so that a wrong one is seen.
    double sum = 0;
    for (const auto byte : sets.train.images) sum += byte;
    const double mean = sum / 255 / static_cast<double>(sets.train.images.size());
    EXPECT_NEAR(mean, GetParam().pixel_mean, 0.3);
    EXPECT_GT(GetParam().pixel_std, 0);
    EXPECT_LE(GetParam().pixel_std, 0.5) << "no spread of numbers in [0, 1] is larger";
}

// A source that reads files says where it looked; one that makes its samples needs no folder.
TEST_P(Source, NamesTheFolderThatHoldsNothing) {
    const tests::TempFolder empty;
    auto request = request_;
    request.directory = empty.path().string();
    try {
        expect_whole(GetParam().load(request).train, request);
    } catch (const base::DataError& error) {
        EXPECT_NE(std::string(error.what()).find(request.directory), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("--data-dir"), std::string::npos)
            << "and how to mend it: " << error.what();
    }
}

TEST_P(Source, GivesTheSameEachTime) {
    auto request = request_;
    request.synthetic_train = 50;
    request.synthetic_test = 10;
    try {
        const auto first = GetParam().load(request);
        const auto again = GetParam().load(request);
        EXPECT_EQ(first.train.labels, again.train.labels);
        EXPECT_EQ(first.train.images, again.train.images);
    } catch (const base::DataError& error) {
        GTEST_SKIP() << "its files are not here: " << error.what();
    }
}

}  // namespace
}  // namespace ranklab::data
