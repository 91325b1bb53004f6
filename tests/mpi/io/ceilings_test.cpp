#include "io/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::world;
using enum CeilingKind;

// A temporary folder for all ranks.
class CeilingsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (world().rank() == 0) folder_ = std::make_unique<tests::TempFolder>();
        job_.directory = comm::broadcast_text(world(), folder_ ? folder_->path().string() : "", 0);
        job_.files = 7;
        strategy_.bytes_per_value = 10;
    }
    void TearDown() override { world().barrier(); }

    // After a barrier, since every rank removes its files.
    std::vector<std::string> left_behind() {
        world().barrier();
        return folder_ ? folder_->names() : std::vector<std::string>{};
    }
    /// Message and exit code of the error on this rank; "" without an error.
    std::pair<std::string, int> outcome() {
        try {
            measured();
            return {"", 0};
        } catch (const base::Error& error) {
            return {tests::sentence_of(error), static_cast<int>(error.code())};
        }
    }

    std::unique_ptr<tests::TempFolder> folder_;
    Ceilings measured() { return measure_ceilings(world(), job_, strategy_, between_); }

    Job job_;  // records of 100 x 100 values
    StrategyEntry strategy_;
    std::function<void()> between_ = [] {};
};

TEST_F(CeilingsTest, TheSameWorkForAllRanks) {
    const auto own = measured();
    EXPECT_EQ(own.at(write_own).amount, 700000);
    EXPECT_EQ(own.at(create).amount, 7);
    strategy_.shared_file = true;
    const auto shared = measured();
    EXPECT_EQ(shared.at(write_shared).amount, 700000);
    for (const auto& one : {own.at(write_own), shared.at(write_shared), own.at(create)}) {
        EXPECT_GT(one.seconds, 0);
        const auto of_all = comm::gather_values(world(), one.seconds);
        for (const double seconds : of_all) EXPECT_EQ(seconds, one.seconds);
    }
    EXPECT_THAT(left_behind(), IsEmpty());
}

// Looks at the folder during the timed part: a file per record, or one for all ranks, of the right
// size.
TEST_F(CeilingsTest, TheBytesAreWrittenAsTheStrategiesWriteThem) {
    strategy_.bytes_per_value = 150;
    std::uintmax_t largest = 0;
    double most_files = 0;
    between_ = [&] {
        double files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(job_.directory)) {
            std::error_code vanished;
            const auto bytes = entry.file_size(vanished);
            if (vanished) continue;
            ++files;
            largest = std::max(largest, bytes);
        }
        most_files = std::max(most_files, files);
    };
    measured();
    EXPECT_EQ(largest, 1500000U);
    world().allreduce(comm::view(std::span(&most_files, 1)), comm::ReduceOp::max);
    EXPECT_EQ(most_files, 7);
    most_files = 0;
    largest = 0;
    strategy_.shared_file = true;
    for (const auto by_rows :
         {+[](const Job&) { return false; }, +[](const Job&) { return true; }}) {
        strategy_.by_rows = by_rows;
        EXPECT_EQ(measured().at(write_shared).amount, 7 * 1500000);
        double most = static_cast<double>(largest);
        world().allreduce(comm::view(std::span(&most, 1)), comm::ReduceOp::max);
        EXPECT_EQ(most, 7 * 1500000);
        EXPECT_EQ(most_files, 1);
    }
    EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CeilingsTest, WithFsync) {
    job_.fsync = true;
    EXPECT_EQ(measured().at(write_own).amount, 700000);
    EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CeilingsTest, OnlyWhatIsAskedFor) {
    const auto found = measured();
    EXPECT_FALSE(found.contains(write_shared));
    EXPECT_TRUE(found.contains(write_own) && found.contains(create));
    strategy_.shared_file = true;
    const auto other = measured();
    EXPECT_TRUE(other.contains(write_shared));
    EXPECT_FALSE(other.contains(write_own) || other.contains(create));
}

TEST_F(CeilingsTest, FewerRecordsThanRanks) {
    job_.files = 1;
    const auto found = measured();
    EXPECT_EQ(found.at(write_own).amount, 100000);
    EXPECT_EQ(found.at(create).amount, 1);
    strategy_.shared_file = true;
    EXPECT_EQ(measured().at(write_shared).amount, 100000);
    EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CeilingsTest, NothingToDo) {
    job_.files = 0;
    const auto nothing = measured();
    EXPECT_THAT(nothing, IsEmpty());
    job_.files = 7;
    strategy_.bytes_per_value = 0;
    const auto empty = measured();
    EXPECT_EQ(empty.at(create).amount, 7);
    EXPECT_FALSE(empty.contains(write_own) || empty.contains(write_shared));
}

TEST_F(CeilingsTest, WhatAKilledRunLeftIsReplaced) {
    if (folder_) folder_->write(".ranklab-ceiling-0", std::string(1000000, 'x'));
    if (folder_) folder_->write(".ranklab-ceiling-shared", std::string(1000000, 'x'));
    world().barrier();
    EXPECT_EQ(measured().at(create).amount, 7);
    strategy_.shared_file = true;
    measured();
    EXPECT_THAT(left_behind(), IsEmpty());
}

// The last rank cannot write: the other ranks do not hang, and no file stays.
TEST_F(CeilingsTest, ARankWithoutRoomEndsItForAll) {
    const bool last = world().rank() == world().world_size() - 1;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit limit{last ? 50000 : old.rlim_cur, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto [said, code] = outcome();
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(code, 5);
    if (last) {
        EXPECT_THAT(said, HasSubstr("no room"));
        EXPECT_THAT(said, HasSubstr("--directory"));
    }
    EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CeilingsTest, AVanishedFolderEndsItForAll) {
    job_.directory += "/gone";
    const auto [said, code] = outcome();
    EXPECT_EQ(code, 5);
    if (world().rank() == 0) {
        EXPECT_THAT(said, HasSubstr("gone"));
    }
    EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(CeilingsTest, AnInterruptedRankEndsItForAllWithoutLeftovers) {
    strategy_.bytes_per_value = 150;
    int calls = 0;
    between_ = [&] {
        if (world().rank() == 0 && ++calls == 2) throw base::Interrupted("stopped", SIGINT);
    };
    const auto [said, code] = outcome();
    EXPECT_EQ(code, 128 + SIGINT);
    EXPECT_EQ(said == "stopped", world().rank() == 0);
    EXPECT_THAT(left_behind(), IsEmpty());
}

}  // namespace
}  // namespace ranklab::io
