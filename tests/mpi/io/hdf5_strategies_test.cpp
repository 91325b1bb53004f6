// The strategies that write one HDF5 file: for every layout, size and number of ranks the values
// read back equal the kernel's bit by bit, and collective writes were collective.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "io/strategy.hpp"
#include "mpi/shared_folder.hpp"
#include "thrown_sentence.hpp"

namespace {

std::atomic<int> fsync_calls{0};

}  // namespace

/// Replaces the C library's function in this program and its libraries, and counts calls.
extern "C" int fsync(int descriptor) {
    ++fsync_calls;
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace ranklab::io {
namespace {

int fsyncs() {
    return fsync_calls.load();
}

using ranklab::testing::SharedFolder;
using ranklab::testing::world;

StrategyEntry entry_of(const std::string& name) {
    for (auto& entry : strategies()) {
        if (entry.name == name) return entry;
    }
    throw base::Error("no strategy " + name);
}

/// The outcome of one writing, on every rank.
struct Written {
    double records = 0;  ///< summed over ranks
    double bytes = 0;
    std::int64_t done = 0;
    std::vector<results::Table> tables;  ///< rank 0's
    std::vector<std::string> warnings;
};

double sum_over_ranks(double mine) {
    const auto all = comm::gather_values(world(), mine);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

Written write(const StrategyEntry& entry, const Job& job) {
    const auto alone = world().split(world().rank(), 0);
    base::IoTimes times;
    Written written;
    std::int64_t done = 0;
    if (entry.parallel || world().rank() == 0) {
        const Place place{entry.parallel ? world() : *alone, times,
                          [&](std::int64_t more) { done += more; }};
        const auto strategy = entry.make(job, place);
        strategy->open();
        strategy->write();
        strategy->close();
        written.tables = strategy->tables();
        for (const auto& remark : strategy->warnings()) written.warnings.push_back(remark.sentence);
    }
    written.records = sum_over_ranks(times.records().calls);
    written.bytes = sum_over_ranks(times.bytes());
    written.done = static_cast<std::int64_t>(sum_over_ranks(static_cast<double>(done)));
    return written;
}

/// Number of records with wrong bytes. Each rank reads all records.
int wrong_records(const StrategyEntry& entry, const Job& job) {
    base::IoTimes times;
    base::IoTimes unused;
    const auto alone = world().split(world().rank(), 0);
    const auto strategy =
        entry.make(job, {entry.parallel ? world() : *alone, unused, [](std::int64_t) {}});
    const auto reader = strategy->reader(times);
    const Grid grid(job.size);
    const auto count = static_cast<std::size_t>(job.values_per_record());
    std::vector<double> expected(count);
    int wrong = 0;
    for (std::int64_t i = 0; i < job.files; ++i) {
        const std::int64_t id = (i + world().rank()) % job.files;
        std::vector<double> found(count, -1);
        reader->read(id, found);
        fill_record(grid, entry.order, job.files, id, 0, job.size, expected);
        if (std::memcmp(found.data(), expected.data(), count * sizeof(double)) != 0) ++wrong;
    }
    EXPECT_EQ(times.of(base::IoPhase::read).calls, static_cast<double>(job.files));
    return wrong;
}

void expect_written(const StrategyEntry& entry, const Job& job) {
    SCOPED_TRACE(fmt::format("{} n={} size={} chunk={} single={}", entry.name, job.files, job.size,
                             job.chunk, job.is_single()));
    const Written written = write(entry, job);
    EXPECT_EQ(written.records, static_cast<double>(job.files));
    EXPECT_EQ(written.done, job.files);
    EXPECT_EQ(written.bytes, static_cast<double>(8 * job.files * job.values_per_record()));
    EXPECT_TRUE(written.warnings.empty()) << written.warnings.front();
    EXPECT_EQ(wrong_records(entry, job), 0);
    world().barrier();  // the next writing replaces the file
}

class Hdf5Strategies : public ::testing::TestWithParam<const char*> {
  protected:
    Job job(std::int64_t files, std::int64_t size) const {
        Job job;
        job.files = files;
        job.size = size;
        job.directory = folder_.path();
        return job;
    }
    StrategyEntry entry() const { return entry_of(GetParam()); }

    SharedFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Strategies, Hdf5Strategies,
                         ::testing::Values("hdf5-serial", "hdf5-parallel-independent",
                                           "hdf5-parallel-collective"),
                         [](const auto& strategy) {
                             std::string name = strategy.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(Hdf5Strategies, WriteWhatTheKernelGives) {
    for (const char* const layout : {"files", "single"})
        for (const std::int64_t files : {0, 1, 2, 7})
            for (const std::int64_t size : {1, 5, 37})
                for (const std::int64_t chunk : {0, 4}) {
                    Job job = this->job(files, size);
                    job.layout = layout;
                    job.chunk = chunk;
                    expect_written(entry(), job);
                }
}

TEST_P(Hdf5Strategies, HonourTheirSettings) {
    for (const char* const layout : {"files", "single"})
        for (const int variant : {0, 1, 2, 3, 4, 5}) {
            SCOPED_TRACE(variant);
            Job job = this->job(5, 33);
            job.layout = layout;
            job.allocation = variant == 0 ? "late" : "early";
            job.fill = variant == 1;
            job.collective_metadata = variant == 2 ? "off" : "on";
            job.latest_format = variant == 3;
            job.alignment = variant == 4 ? 65536 : 1;
            job.fsync = variant == 5;
            expect_written(entry(), job);
        }
}

// --fsync syncs once, in phase fsync: a second sync in close() would count as closing.
TEST_P(Hdf5Strategies, SyncOnceAndInItsPhase) {
    for (const bool fsync : {false, true})
        for (const bool latest_format : {false, true}) {
            SCOPED_TRACE(fmt::format("fsync {} latest format {}", fsync, latest_format));
            Job job = this->job(3, 20);
            job.fsync = fsync;
            job.latest_format = latest_format;
            const auto alone = world().split(world().rank(), 0);
            const auto entry = this->entry();
            const bool works = entry.parallel || world().rank() == 0;
            base::IoTimes times;
            const int before = fsyncs();
            if (works) {
                const auto strategy = entry.make(
                    job, {entry.parallel ? world() : *alone, times, [](std::int64_t) {}});
                strategy->open();
                strategy->write();
                strategy->close();
            }
            const int wanted = works && fsync ? 1 : 0;
            EXPECT_EQ(fsyncs() - before, wanted);
            EXPECT_EQ(times.of(base::IoPhase::fsync).calls, wanted);
            if (wanted == 1) {
                EXPECT_GT(times.last_close_s(), 0) << "the bandwidth's end";
            }
            world().barrier();
        }
}

TEST_P(Hdf5Strategies, KeepToTheAlignment) {
    Job job = this->job(3, 100);
    job.alignment = 65536;
    write(entry(), job);
    // Records of 80,000 bytes begin at multiples of 65,536.
    EXPECT_GE(std::filesystem::file_size(job.folder() / "data.h5"), 5U * 65536U + 80000U);
}

TEST_P(Hdf5Strategies, LeaveNoHalfOfAFile) {
    Job job = this->job(4, 8);
    const auto alone = world().split(world().rank(), 0);
    const auto entry = this->entry();
    base::IoTimes times;
    if (entry.parallel || world().rank() == 0) {
        const auto strategy =
            entry.make(job, {entry.parallel ? world() : *alone, times, [](std::int64_t) {}});
        strategy->open();
        EXPECT_TRUE(std::filesystem::exists(job.folder() / "data.h5"));
        if (entry.parallel) world().barrier();
    }
    world().barrier();
    EXPECT_FALSE(std::filesystem::exists(job.folder() / "data.h5"));
}

TEST_P(Hdf5Strategies, SayThatThereIsNoRoom) {
    Job job = this->job(10'000'000, 1'000);  // 80 TB
    const auto alone = world().split(world().rank(), 0);
    const auto entry = this->entry();
    base::IoTimes times;
    bool environment = false;
    std::string sentence;
    if (entry.parallel || world().rank() == 0) {
        const auto strategy =
            entry.make(job, {entry.parallel ? world() : *alone, times, [](std::int64_t) {}});
        try {
            strategy->open();
        } catch (const base::Error& error) {
            environment = error.code() == base::ExitCode::environment;
            sentence = error.what();
        }
        EXPECT_TRUE(environment) << sentence;
    }
    world().barrier();
    if (world().rank() == 0) {
        EXPECT_NE(sentence.find("no room"), std::string::npos) << sentence;
    }
    EXPECT_FALSE(std::filesystem::exists(job.folder() / "data.h5"));
}

std::vector<std::string> texts(const results::Table& table, const std::string& column) {
    const auto* values = table.find<std::string>(column);
    return values == nullptr ? std::vector<std::string>{"no such column"} : *values;
}

const results::Table* table_of(const Written& written, const std::string& name) {
    for (const auto& table : written.tables) {
        if (table.name == name) return &table;
    }
    return nullptr;
}

void expect_transfers(const Written& written, const std::vector<std::string>& what,
                      std::int64_t count) {
    if (world().rank() != 0) return;
    const auto* table = table_of(written, "hdf5_transfers");
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(texts(*table, "requested"), std::vector{what[0]});
    EXPECT_EQ(texts(*table, "actual_io_mode"), std::vector{what[1]});
    EXPECT_EQ(texts(*table, "chunk_mode"), std::vector{what[2]});
    EXPECT_EQ(texts(*table, "no_collective_cause"), std::vector{what[3]});
    const auto* counts = table->find<std::int64_t>("transfers");
    ASSERT_NE(counts, nullptr);
    EXPECT_EQ(*counts, std::vector{count});
}

class Hdf5Truth : public ::testing::Test {
  protected:
    Written write(const char* name, const char* layout, std::int64_t chunk) {
        Job job;
        job.files = 7;
        job.size = 37;
        job.directory = folder_.path();
        job.layout = layout;
        job.chunk = chunk;
        job.mpi_hints = {{"cb_buffer_size", "1048576"}};
        return io::write(entry_of(name), job);
    }
    const std::int64_t ranks_ = world().world_size();
    SharedFolder folder_;
};

TEST_F(Hdf5Truth, CollectiveReallyIs) {
    const auto contiguous = write("hdf5-parallel-collective", "files", 0);
    expect_transfers(contiguous, {"collective", "contiguous collective", "none", "none"},
                     7 * ranks_);
    const auto chunked = write("hdf5-parallel-collective", "files", 16);
    expect_transfers(chunked, {"collective", "chunk collective", "link chunk", "none"}, 7 * ranks_);
    const auto single = write("hdf5-parallel-collective", "single", 0);
    expect_transfers(single, {"collective", "contiguous collective", "none", "none"}, ranks_);
}

TEST_F(Hdf5Truth, IndependentIsToldAsSuch) {
    const auto contiguous = write("hdf5-parallel-independent", "files", 0);
    expect_transfers(contiguous,
                     {"independent", "no collective", "none", "independent I/O was asked for"}, 7);
}

TEST_F(Hdf5Truth, TellsTheMpiIoBeneath) {
    const auto written = write("hdf5-parallel-collective", "files", 0);
    if (world().rank() != 0) return;
    const auto* table = table_of(written, "mpi_io");
    ASSERT_NE(table, nullptr);
    const auto keys = texts(*table, "key");
    const auto values = texts(*table, "value");
    ASSERT_FALSE(keys.empty());
    EXPECT_EQ(keys.front(), "implementation");
    EXPECT_FALSE(values.front().empty());
}

}  // namespace
}  // namespace ranklab::io
