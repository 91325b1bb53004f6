// Reading back records of the real strategies: with several ranks no rank reads what it wrote.
#include <gtest/gtest.h>

#include "base/numbers.hpp"
#include "experiments/storage/repetition.hpp"
#include "mpi/no_progress.hpp"
#include "mpi/shared_folder.hpp"
#include "mpi_world.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;

constexpr std::int64_t kFiles = 23;

StorageOptions options_of(const std::string& strategy, const std::filesystem::path& folder) {
    StorageOptions options;
    for (const auto& entry : io::strategies())
        if (entry.name == strategy) options.entry = entry;
    options.files = kFiles;
    options.size = 4;
    options.directory = folder;
    return options;
}

/// The records that this rank wrote.
base::Share written_by_me(const StorageOptions& options) {
    const int writers = options.entry.parallel ? world().world_size() : 1;
    return world().rank() >= writers ? base::Share{}
                                     : base::share_of(kFiles, world().rank(), writers);
}

void expect_read_by_others(const StorageOptions& options) {
    ranklab::testing::NoProgress progress;
    Repeater repeater(options, world(), progress);
    repeater.write({});
    const ReadPlan plan = plan_for_others(repeater.written(), world().rank());
    auto all = static_cast<double>(plan.records.size());
    world().allreduce(comm::view(std::span(&all, 1)), comm::ReduceOp::sum);
    EXPECT_EQ(all, kFiles) << "each is read once";
    const auto mine = written_by_me(options);
    for (const std::int64_t id : plan.records)
        EXPECT_EQ(id >= mine.first && id < mine.end(), world().world_size() == 1)
            << "record " << id;
    EXPECT_EQ(plan.who, world().world_size() == 1 ? WhoReads::writers : WhoReads::others);
    const ReadPass pass = repeater.read(plan, true);
    EXPECT_EQ(pass.wrong, 0) << pass.first_wrong;
    EXPECT_EQ(pass.records, std::ssize(plan.records));
    repeater.remove();
}

TEST(StorageReaders, NoRankReadsWhatItWrote) {
    const ranklab::testing::SharedFolder folder;
    for (const char* strategy : {"text-loop", "text-vectorized", "binary", "mpi-send",
                                 "mpi-scatter", "hdf5-serial", "hdf5-parallel-independent"}) {
        SCOPED_TRACE(strategy);
        expect_read_by_others(options_of(strategy, folder.path()));
    }
}

// Every rank writes rows of every record, so no rank could read only others' data.
TEST(StorageReaders, OfRecordsThatAllWroteTogetherItIsSaidSo) {
    const ranklab::testing::SharedFolder folder;
    const auto options = options_of("hdf5-parallel-collective", folder.path());
    ranklab::testing::NoProgress progress;
    Repeater repeater(options, world(), progress);
    repeater.write({});
    EXPECT_EQ(plan_for_others(repeater.written(), world().rank()).who,
              world().world_size() == 1 ? WhoReads::writers : WhoReads::together);
    repeater.remove();
}

}  // namespace
}  // namespace ranklab::experiments
