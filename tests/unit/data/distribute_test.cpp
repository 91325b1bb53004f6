#include "data/distribute.hpp"

#include <gtest/gtest.h>

#include "comm/exchange.hpp"
#include "mpi_world.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::world;

const DataRequest kRequest{.shape = {1, 2, 2}, .classes = 4, .directory = ""};

TEST(LoadOnAll, RankZeroReadsAndAllHaveIt) {
    int loads = 0;
    const SourceEntry source{.name = "counted", .summary = "", .load = [&](const DataRequest& request) {
                                 ++loads;
                                 return DataSets{{request.shape, 4, {1, 2, 3, 4, 5, 6, 7, 8}, {3, 1}},
                                                 {request.shape, 4, {}, {}},
                                                 "somewhere"};
                             }};
    const auto sets = load_on_all(world(), source, kRequest);
    EXPECT_EQ(loads, world().rank() == 0 ? 1 : 0) << "the other ranks touch no file";
    EXPECT_EQ(sets.train.images, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(sets.train.labels, (std::vector<std::uint8_t>{3, 1}));
    EXPECT_EQ(sets.train.shape, kRequest.shape);
    EXPECT_EQ(sets.train.classes, 4);
    EXPECT_EQ(sets.test.size(), 0);
    EXPECT_EQ(sets.origin, "somewhere");
}

TEST(LoadOnAll, BadFilesEndAllRanksWithOneCode) {
    const SourceEntry source{.name = "bad", .summary = "", .load = [](const DataRequest&) -> DataSets {
                                 throw base::DataError("labels.gz is truncated");
                             }};
    try {
        load_on_all(world(), source, kRequest);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
        const bool is_peer = dynamic_cast<const comm::PeerError*>(&error) != nullptr;
        EXPECT_EQ(is_peer, world().rank() != 0);
    }
}

}  // namespace
}  // namespace ranklab::data
