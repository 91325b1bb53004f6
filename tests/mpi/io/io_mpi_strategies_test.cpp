// mpi-send and mpi-scatter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "base/element.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "io/record_files.hpp"
#include "io/strategy.hpp"
#include "mpi/shared_folder.hpp"
#include "mpi_world.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using ranklab::testing::SharedFolder;
using ranklab::testing::world;
using Numbers = std::vector<std::int64_t>;

int me() {
    return world().rank();
}
int ranks() {
    return world().world_size();
}

std::int64_t sum_of(std::int64_t mine) {
    world().allreduce(comm::view(std::span(&mine, 1)), comm::ReduceOp::sum);
    return mine;
}

StrategyEntry entry(const std::string& name) {
    for (auto& one : strategies()) {
        if (one.name == name) return one;
    }
    throw std::runtime_error("no strategy " + name);
}

std::string bytes_of(const std::filesystem::path& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string npy_bytes(const Job& job, std::int64_t id) {
    std::vector<double> values(static_cast<std::size_t>(job.values_per_record()));
    fill_record(Grid(job.size), Order::by_y, job.files, id, 0, job.size, values);
    std::string bytes = base::npy_header("<f8", {job.size, job.size});
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    return bytes;
}

struct Outcome {
    bool failed = false;  // this rank threw
    std::int64_t done = 0;
    base::IoTimes times;
    Numbers chunks;  // of the table, by rank: on rank 0
    Numbers records;
    Numbers bytes;
};

// One writing by all ranks. Calls `after_record` after each record of this rank.
Outcome run(
    const std::string& name, const Job& job, const std::function<void()>& after_record = [] {}) {
    Outcome outcome;
    const Place place{world(), outcome.times, [&](std::int64_t more) {
                          outcome.done += more;
                          after_record();
                      }};
    const auto strategy = entry(name).make(job, place);
    try {
        strategy->open();
        strategy->write();
        strategy->close();
    } catch (const base::Error&) {
        outcome.failed = true;
    }
    world().barrier();
    if (outcome.failed) return outcome;
    for (const auto& table : strategy->tables()) {
        if (table.name != "chunks") continue;
        outcome.chunks = *table.find<std::int64_t>("chunks");
        outcome.records = *table.find<std::int64_t>("records");
        outcome.bytes = *table.find<std::int64_t>("handed_bytes");
        EXPECT_EQ(table.find<std::int64_t>("rank")->size(), static_cast<std::size_t>(ranks()));
    }
    return outcome;
}

std::int64_t total(const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

void expect_all_files(const Job& job) {
    if (me() != 0) return;
    for (std::int64_t id = 0; id < job.files; ++id)
        EXPECT_TRUE(bytes_of(record_path(job, Encoding::npy, id)) == npy_bytes(job, id))
            << "record " << id;
    const auto there = std::distance(std::filesystem::directory_iterator(job.directory), {});
    EXPECT_EQ(there, job.files) << "no more files than records";
}

class MpiStrategies : public ::testing::TestWithParam<const char*> {
  protected:
    static Job job(const SharedFolder& folder, std::int64_t files, std::int64_t size) {
        Job job;
        job.files = files;
        job.size = size;
        job.directory = folder.path();
        return job;
    }
};
INSTANTIATE_TEST_SUITE_P(All, MpiStrategies, ::testing::Values("mpi-send", "mpi-scatter"),
                         [](const auto& one) {
                             return one.param == std::string("mpi-send") ? "Send" : "Scatter";
                         });

TEST_P(MpiStrategies, WriteTheBytesOfEachRecordOnce) {
    for (const std::int64_t files : {0, 1, 2, 3, 7, 10}) {
        for (const std::int64_t size : {1, 5, 37}) {
            SCOPED_TRACE("files " + std::to_string(files) + ", size " + std::to_string(size));
            const SharedFolder folder;
            const Job what = job(folder, files, size);
            const auto outcome = run(GetParam(), what);
            EXPECT_FALSE(outcome.failed);
            EXPECT_EQ(sum_of(outcome.done), files);
            expect_all_files(what);
            if (me() == 0) {
                EXPECT_EQ(total(outcome.records), files);
            }
        }
    }
}

TEST_P(MpiStrategies, SayWhoGotWhat) {
    const SharedFolder folder;
    const auto outcome = run(GetParam(), job(folder, 10, 5));
    if (me() != 0) return;
    for (int rank = 0; rank < ranks(); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const auto records = outcome.records[r];
        EXPECT_EQ(records, base::share_of(10, rank, ranks()).count);
        EXPECT_EQ(outcome.chunks[r], 1);
        EXPECT_EQ(outcome.bytes[r], rank == 0                               ? 0
                                    : GetParam() == std::string("mpi-send") ? 16
                                                                            : 4 * records);
    }
}

TEST_P(MpiStrategies, MarkSendingAndWaiting) {
    const SharedFolder folder;
    const Job what = job(folder, 7, 5);
    const auto outcome = run(GetParam(), what);
    const auto calls = [&](IoPhase phase) {
        return static_cast<std::int64_t>(outcome.times.of(phase).calls);
    };
    EXPECT_EQ(calls(IoPhase::write), outcome.done);
    EXPECT_EQ(outcome.times.records().calls, static_cast<double>(outcome.done));
    EXPECT_EQ(outcome.times.bytes(), static_cast<double>(outcome.done) * (128 + 8 * 25));
    EXPECT_EQ(calls(IoPhase::wait), me() == 0 ? 0 : 1);
    EXPECT_EQ(calls(IoPhase::send), me() == 0 ? 1 : 0);
}

TEST_P(MpiStrategies, AnotherRankReadsThemBack) {
    const SharedFolder folder;
    const Job what = job(folder, 5, 7);
    Outcome outcome;
    const Place place{world(), outcome.times, [](std::int64_t) {}};
    const auto strategy = entry(GetParam()).make(what, place);
    for (int repetition = 0; repetition < 2; ++repetition) {  // written over
        strategy->open();
        strategy->write();
        strategy->close();
        world().barrier();
    }
    const auto reader = strategy->reader(outcome.times);
    std::vector<double> got(49);
    std::vector<double> wanted(49);
    for (std::int64_t id = 0; id < 5; ++id) {
        reader->read(id, got);
        fill_record(Grid(7), Order::by_y, 5, id, 0, 7, wanted);
        EXPECT_EQ(std::memcmp(got.data(), wanted.data(), sizeof(double) * 49), 0);
        EXPECT_EQ(strategy->file_of(id), record_path(what, Encoding::npy, id));
    }
}

// A rank whose folder is missing throws, and the others finish. Leftover messages do not disturb
// later ones on the same communicator.
TEST_P(MpiStrategies, ARankThatFailsLeavesNoneWaiting) {
    for (int failing = 0; failing < ranks(); ++failing) {
        SCOPED_TRACE("failing rank " + std::to_string(failing));
        const SharedFolder folder;
        Job what = job(folder, 60, 1);
        if (me() == failing) what.directory += "/missing";
        const auto outcome = run(GetParam(), what,
                                 [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
        EXPECT_EQ(outcome.failed, me() == failing);
        const auto done = sum_of(outcome.done);
        EXPECT_EQ(done, 60 - base::share_of(60, failing, ranks()).count)
            << "the others have their share";
        const SharedFolder good;
        const Job next = job(good, 7, 5);
        EXPECT_FALSE(run(GetParam(), next).failed);
        expect_all_files(next);
    }
}

TEST_P(MpiStrategies, AnInterruptedRankLeavesNoneWaiting) {
    const SharedFolder folder;
    const auto outcome = run(GetParam(), job(folder, 300, 1), [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (me() == 0) throw base::Interrupted("asked to stop", 15);
    });
    EXPECT_EQ(outcome.failed, me() == 0);
}

}  // namespace
}  // namespace ranklab::io
