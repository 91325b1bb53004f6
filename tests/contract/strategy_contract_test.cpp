// Every strategy fulfils io/strategy.hpp for any number of records, workers and ranks.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "contract/template_strategy.hpp"
#include "contract_names.hpp"
#include "mpi/shared_folder.hpp"
#include "mpi_world.hpp"

namespace ranklab::io {

RANKLAB_PRINTED_BY_NAME(StrategyEntry)

namespace {

using base::IoPhase;
using base::IoTimes;
using ranklab::testing::world;

std::vector<StrategyEntry> all_strategies() {
    auto all = strategies();
    all.push_back(template_strategy_entry());
    all.push_back(template_workers_entry());
    return all;
}

TEST(Strategies, HaveGoodNames) {
    ranklab::testing::expect_good_names(all_strategies());
}

TEST(Strategies, AreTheTenOfTheWorkshopInLadderOrder) {
    std::vector<std::string> names;
    for (const auto& entry : strategies()) names.push_back(entry.name);
    const std::vector<std::string> ladder{"text-loop",
                                          "text-vectorized",
                                          "binary",
                                          "process-pool",
                                          "process-queue",
                                          "mpi-send",
                                          "mpi-scatter",
                                          "hdf5-serial",
                                          "hdf5-parallel-independent",
                                          "hdf5-parallel-collective"};
    std::vector<std::string> known;
    for (const auto& name : names)
        if (std::find(ladder.begin(), ladder.end(), name) != ladder.end()) known.push_back(name);
    EXPECT_EQ(known, ladder);  // others may stand between them
}

double sum_over_ranks(double mine) {
    double sum = 0;
    for (const double value : comm::gather_values(world(), mine)) sum += value;
    return sum;
}

class EachStrategy : public ::testing::TestWithParam<StrategyEntry> {
  protected:
    EachStrategy() : group_(group()) {}

    Job job(std::int64_t files, std::int64_t size) const {
        Job job;
        job.files = files;
        job.size = size;
        job.directory = folder_.path();
        job.workers = 2;
        job.worker_program = RANKLAB_IO_WORKER;
        return job;
    }
    std::unique_ptr<Strategy> make(const Job& job) {
        times_ = {};
        done_ = 0;
        return GetParam().make(job,
                               {*group_, times_, [this](std::int64_t more) { done_ += more; }});
    }
    void write(Strategy& strategy) const {
        comm::all_or_throw(world(), [&] {
            if (!takes_part()) return;
            strategy.open();
            strategy.write();
            strategy.close();
        });
    }
    bool takes_part() const { return GetParam().parallel || world().rank() == 0; }

    // Each rank reads records of the next rank.
    void expect_right(const Job& job, const Strategy& strategy) const {
        IoTimes times;
        const auto reader = strategy.reader(times);
        const int ranks = world().world_size();
        const auto share = base::share_of(job.files, (world().rank() + 1) % ranks, ranks);
        std::vector<double> values(static_cast<std::size_t>(job.values_per_record()));
        std::vector<double> expected(values.size());
        for (std::int64_t id = share.first; id < share.end(); ++id) {
            reader->read(id, values);
            fill_record(Grid(job.size), GetParam().order, job.files, id, 0, job.size, expected);
            EXPECT_EQ(std::memcmp(values.data(), expected.data(), values.size() * sizeof(double)),
                      0)
                << "record " << id << " of " << job.files << ", size " << job.size;
        }
    }

    ranklab::testing::SharedFolder folder_;
    std::unique_ptr<comm::Communicator> group_;
    IoTimes times_;
    std::int64_t done_ = 0;

  private:
    static std::unique_ptr<comm::Communicator> group() {
        const int color = GetParam().parallel ? 0 : world().rank();
        return world().split(color, world().rank());
    }
};

INSTANTIATE_TEST_SUITE_P(Catalogue, EachStrategy, ::testing::ValuesIn(all_strategies()),
                         ranklab::testing::test_name<StrategyEntry>);

TEST_P(EachStrategy, WritesAnyNumberOfRecordsOfAnySize) {
    for (const std::int64_t files : {0, 1, 2, 7}) {
        for (const std::int64_t size : {1, 3, 16}) {
            const Job job = this->job(files, size);
            const auto strategy = make(job);
            write(*strategy);
            expect_right(job, *strategy);
            EXPECT_EQ(sum_over_ranks(static_cast<double>(done_)), files);
            EXPECT_EQ(sum_over_ranks(times_.records().calls), files);
        }
    }
}

TEST_P(EachStrategy, MarksItsPhasesAndCountsItsBytes) {
    const Job job = this->job(5, 8);
    const auto strategy = make(job);
    write(*strategy);
    EXPECT_GT(sum_over_ranks(times_.of(IoPhase::generate).total_s), 0);
    EXPECT_GT(sum_over_ranks(times_.of(IoPhase::open).calls), 0);
    EXPECT_GT(sum_over_ranks(times_.of(IoPhase::write).calls), 0);
    EXPECT_GT(sum_over_ranks(times_.of(IoPhase::close).calls), 0);
    const double bytes = sum_over_ranks(times_.bytes());
    const double numbers = 5 * static_cast<double>(GetParam().bytes_per_record(8));
    EXPECT_GE(bytes, 0.9 * numbers);  // text: numbers have no fixed length, in principle
    EXPECT_LE(bytes, numbers + 5 * 128);
}

TEST_P(EachStrategy, PutsEachRecordWhereItSays) {
    const Job job = this->job(4, 3);
    const auto strategy = make(job);
    write(*strategy);
    std::set<std::filesystem::path> files;
    for (std::int64_t id = 0; id < job.files; ++id) files.insert(strategy->file_of(id));
    EXPECT_EQ(files.size(), GetParam().shared_file ? 1U : 4U);
    for (const auto& path : files) {
        EXPECT_TRUE(std::filesystem::is_regular_file(path)) << path;
        EXPECT_EQ(path.extension(), GetParam().extension);
    }
}

TEST_P(EachStrategy, WritesTwiceTheSame) {
    const Job job = this->job(3, 5);
    for (int i = 0; i < 2; ++i) {
        const auto strategy = make(job);
        write(*strategy);
        expect_right(job, *strategy);
        world().barrier();  // nobody writes again what another still reads
    }
}

TEST_P(EachStrategy, ReadersNoticeWhatIsMissing) {
    const Job job = this->job(3, 5);
    const auto strategy = make(job);
    write(*strategy);
    if (world().rank() == 0) std::filesystem::remove(strategy->file_of(1));
    world().barrier();
    IoTimes times;
    std::vector<double> values(25);
    EXPECT_THROW(strategy->reader(times)->read(1, values), base::DataError);
}

TEST_P(EachStrategy, ReadersNoticeWhatIsCutShort) {
    const Job job = this->job(3, 5);
    const auto strategy = make(job);
    write(*strategy);
    world().barrier();
    if (world().rank() == 0)
        std::filesystem::resize_file(strategy->file_of(1),
                                     std::filesystem::file_size(strategy->file_of(1)) / 2);
    world().barrier();
    IoTimes times;
    std::vector<double> values(25);
    EXPECT_THROW(
        {
            const auto reader = strategy->reader(times);
            for (std::int64_t id = 0; id < 3; ++id) reader->read(id, values);
        },
        base::DataError);
}

TEST_P(EachStrategy, AFolderThatIsNotThereIsTold) {
    Job job = this->job(3, 5);
    job.directory += "/missing";
    const auto strategy = make(job);
    bool threw = false;
    try {
        write(*strategy);
    } catch (const base::Error& error) {
        threw = true;
        EXPECT_EQ(error.code(), base::ExitCode::environment) << error.what();
    }
    EXPECT_TRUE(threw);
}

}  // namespace
}  // namespace ranklab::io
