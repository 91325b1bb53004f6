// process-pool and process-queue without faults: files, times, bytes sent.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "io/kernel.hpp"
#include "io/record_files.hpp"
#include "io/worker.hpp"
#include "process_fixture.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::tests {
namespace {

namespace fs = std::filesystem;

class ProcessStrategies : public testing::TestWithParam<Way> {
  protected:
    void use(ProcessStrategyRun& run) const { run.job.async = GetParam().async; }
};

INSTANTIATE_TEST_SUITE_P(, ProcessStrategies, testing::ValuesIn(kWays), label_of);

// Reference: one process writes the records of fill_record().
void write_expected(io::Job job, const fs::path& directory) {
    fs::create_directory(directory);
    job.directory = directory;
    base::IoTimes times;
    const io::Grid grid(job.size);
    io::RecordWriter writer(job, io::Encoding::npy, times);
    std::vector<double> values(static_cast<std::size_t>(job.values_per_record()));
    for (std::int64_t id = 0; id < job.files; ++id) {
        fill_record(grid, io::Order::by_y, job.files, id, 0, job.size, values);
        writer.write(id, values);
    }
}

std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

void expect_same_files(const ProcessStrategyRun& run) {
    const fs::path expected = run.folder / "expected";
    write_expected(run.job, expected);
    EXPECT_EQ(names_in(run.job.directory), names_in(expected));
    for (const auto& name : names_in(expected))
        EXPECT_TRUE(bytes_in(run.job.folder() / name) == bytes_in(expected / name)) << name;
}

const results::Table& tasks_of(const std::vector<results::Table>& tables) {
    EXPECT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables.at(0).name, "tasks");
    return tables.at(0);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

TEST_P(ProcessStrategies, WritesTheBytesThatOneProcessWould) {
    for (const int workers : {1, 2, 3, 8}) {
        SCOPED_TRACE(workers);
        ProcessStrategyRun run(GetParam().strategy, 7, 37, workers);
        use(run);
        run.all();
        expect_same_files(run);
        EXPECT_EQ(run.done, 7);
        EXPECT_TRUE(has_no_child());
    }
}

TEST_P(ProcessStrategies, RecordsLargerThanAPipe) {
    ProcessStrategyRun run(GetParam().strategy, 5, 301, 2);
    use(run);
    run.all();
    expect_same_files(run);
}

TEST_P(ProcessStrategies, MoreRecordsThanAQueueHolds) {
    ProcessStrategyRun run(GetParam().strategy, 800, 2, 3);
    use(run);
    run.all();
    EXPECT_EQ(run.done, 800);
    expect_same_files(run);
}

TEST_P(ProcessStrategies, NoRecords) {
    ProcessStrategyRun run(GetParam().strategy, 0, 10, 2);
    use(run);
    run.all();
    EXPECT_EQ(run.done, 0);
    EXPECT_EQ(run.times.records().calls, 0);
    EXPECT_TRUE(names_in(run.job.directory).empty());
    EXPECT_THAT(*tasks_of(run.strategy->tables()).find<std::int64_t>("tasks"),
                testing::ElementsAre(0, 0));
}

TEST_P(ProcessStrategies, FewerRecordsThanWorkers) {
    ProcessStrategyRun run(GetParam().strategy, 2, 10, 5);
    use(run);
    run.all();
    expect_same_files(run);
    const auto tables = run.strategy->tables();
    EXPECT_EQ(sum(*tasks_of(tables).find<std::int64_t>("tasks")), 2);
}

TEST_P(ProcessStrategies, EachRecordIsCountedOnceAndEveryPhaseMarked) {
    ProcessStrategyRun run(GetParam().strategy, 11, 20, 3);
    use(run);
    run.job.fsync = true;
    run.all();
    using base::IoPhase;
    EXPECT_EQ(run.times.records().calls, 11);
    EXPECT_EQ(run.times.bytes(), 11 * (128 + 8 * 20 * 20));
    for (const auto phase :
         {IoPhase::generate, IoPhase::open, IoPhase::write, IoPhase::fsync, IoPhase::close})
        EXPECT_EQ(run.times.of(phase).calls, 11) << static_cast<int>(phase);
    // An id that did not fit into the queue is sent again.
    EXPECT_GE(run.times.of(IoPhase::send).calls, 11);
    EXPECT_GT(run.times.of(IoPhase::wait).total_s, 0);
    EXPECT_TRUE(std::isfinite(run.times.first_open_s()));
    EXPECT_GT(run.times.last_close_s(), run.times.first_open_s());
}

TEST_P(ProcessStrategies, TheTableCountsTasksAndTimesOfEachWorker) {
    ProcessStrategyRun run(GetParam().strategy, 40, 30, 2);
    use(run);
    run.all();
    const auto tables = run.strategy->tables();
    const auto& table = tasks_of(tables);
    EXPECT_THAT(*table.find<std::int64_t>("worker"), testing::ElementsAre(0, 1));
    EXPECT_EQ(sum(*table.find<std::int64_t>("tasks")), 40);
    const auto& busy_s = *table.find<double>("busy_s");
    EXPECT_NEAR(busy_s[0] + busy_s[1], run.times.records().total_s, 1e-9);
}

// Times of workers that take turns add up; of workers at the same time the slowest counts.
TEST_P(ProcessStrategies, SayWhatEachOfThoseTookThatWriteAtOnce) {
    using base::IoPhase;
    ProcessStrategyRun run(GetParam().strategy, 9, 30, 3);
    use(run);
    run.all();
    const bool at_once = run.job.async || run.name == "process-queue";
    const auto writers = run.strategy->writers();
    ASSERT_EQ(writers.size(), at_once ? 3U : 0U);
    double calls = 0;
    double seconds = 0;
    for (const auto& one : writers) {
        calls += one.of(IoPhase::write).calls;
        seconds += one.of(IoPhase::write).total_s;
    }
    if (!at_once) return;
    EXPECT_EQ(calls, 9);
    EXPECT_NEAR(seconds, run.times.of(IoPhase::write).total_s, 1e-9);
}

TEST_P(ProcessStrategies, CanBeOpenedAgain) {
    ProcessStrategyRun run(GetParam().strategy, 4, 10, 2);
    use(run);
    run.make();
    for (int repetition = 1; repetition <= 3; ++repetition) {
        run.strategy->open();
        run.strategy->write();
        run.strategy->close();
        EXPECT_EQ(run.done, 4 * repetition);
    }
    const auto tables = run.strategy->tables();
    EXPECT_EQ(sum(*tasks_of(tables).find<std::int64_t>("tasks")), 4) << "of the last writing alone";
    expect_same_files(run);
}

TEST_P(ProcessStrategies, ReadsBackWhatItsWorkersWrote) {
    ProcessStrategyRun run(GetParam().strategy, 3, 12, 2);
    use(run);
    run.all();
    EXPECT_EQ(run.strategy->file_of(2), run.job.folder() / "data00002.npy");
    base::IoTimes read_times;
    std::vector<double> values(144);
    run.strategy->reader(read_times)->read(2, values);
    std::vector<double> expected(144);
    fill_record(io::Grid(12), io::Order::by_y, 3, 2, 0, 12, expected);
    EXPECT_EQ(values, expected);
}

TEST_P(ProcessStrategies, AFolderInTheWayOfARecordIsSaid) {
    ProcessStrategyRun run(GetParam().strategy, 2, 4, 1);
    use(run);
    fs::create_directory(run.job.folder() / "data00001.npy");
    EXPECT_THAT(thrown_sentence<base::OptionError>([&] { run.all(); }),
                testing::HasSubstr("(open: "));
    EXPECT_THAT(names_in(run.job.directory),
                testing::ElementsAre("data00000.npy", "data00001.npy"));
}

TEST_P(ProcessStrategies, NeitherCtrlCNorSigtermToTheGroupEndsAWorker) {
    ProcessStrategyRun run(GetParam().strategy, 6, 10, 2);
    use(run);
    run.open();
    for (const pid_t worker : children_of(::getpid())) {
        ::kill(worker, SIGINT);
        ::kill(worker, SIGTERM);
    }
    run.strategy->write();
    run.strategy->close();
    EXPECT_EQ(run.done, 6);
}

TEST_P(ProcessStrategies, WorkersHoldNothingOpenThatIsNotTheirs) {
    const int inherited = ::open("/dev/null", O_RDONLY);  // as a library that forgets O_CLOEXEC
    ASSERT_GE(inherited, 0);
    for (int at = 3; at < 40; at += 3) ::dup2(inherited, at + 100);
    ProcessStrategyRun run(GetParam().strategy, 0, 10, 3);
    use(run);
    run.open();
    const auto workers = children_of(::getpid());
    EXPECT_EQ(workers.size(), 3U);
    const bool queue = run.name == "process-queue";
    for (const pid_t worker : workers) {
        std::vector<std::string> open = names_in("/proc/" + std::to_string(worker) + "/fd");
        EXPECT_EQ(open, queue ? (std::vector<std::string>{"0", "1", "2", "3", "4"})
                              : (std::vector<std::string>{"0", "1", "2", "3"}));
    }
    run.strategy->write();
    run.strategy->close();
    ::close(inherited);
    for (int at = 3; at < 40; at += 3) ::close(at + 100);
}

TEST_P(ProcessStrategies, WarnsOfMoreWorkersThanCores) {
    ProcessStrategyRun run(GetParam().strategy, 1, 4, 1);
    use(run);
    run.make();
    EXPECT_TRUE(run.strategy->warnings().empty());
    run.job.workers = 5000;
    const auto remarks = run.strategy->warnings();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_THAT(remarks[0].sentence, testing::HasSubstr("5000 workers"));
    EXPECT_THAT(remarks[0].settings, testing::ElementsAre(testing::StartsWith("workers ")));
}

TEST(ProcessPool, SendsBothMeshgridsWithEachTask) {
    ProcessStrategyRun run("process-pool", 10, 50, 2);
    run.all();
    const auto tables = run.strategy->tables();
    const auto& table = tasks_of(tables);
    EXPECT_THAT(*table.find<std::int64_t>("tasks"), testing::ElementsAre(5, 5)) << "tasks go round";
    // The id, X and Y.
    EXPECT_THAT(*table.find<double>("bytes_sent_per_task"), testing::Each(8 + 2 * 8 * 50 * 50));
    EXPECT_THAT(*table.find<double>("bytes_received_per_task"),
                testing::Each(sizeof(io::WorkerReport)));
}

TEST(ProcessPool, WaitsForEachResultUnlessAsync) {
    ProcessStrategyRun run("process-pool", 20, 10, 4);
    std::vector<std::size_t> files_there;
    run.on_done = [&](std::int64_t) {
        // Lets another worker run.
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        files_there.push_back(names_in(run.job.directory).size());
    };
    run.all();
    std::vector<std::size_t> one_by_one(20);
    std::iota(one_by_one.begin(), one_by_one.end(), 1U);
    EXPECT_EQ(files_there, one_by_one);
}

TEST(ProcessPool, AsyncKeepsAllWorkersAtWorkButNotMoreThanATaskEach) {
    ProcessStrategyRun run("process-pool", 40, 10, 4);
    run.job.async = true;
    std::size_t most_ahead = 0;
    std::size_t calls = 0;
    run.on_done = [&](std::int64_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        most_ahead = std::max(most_ahead, names_in(run.job.directory).size() - ++calls);
    };
    run.all();
    EXPECT_GE(most_ahead, 1U) << "others had written while the first was being looked at";
    EXPECT_LE(most_ahead, 3U) << "four in flight at most";
}

TEST(ProcessQueue, SendsEightBytesATask) {
    ProcessStrategyRun run("process-queue", 500, 10, 2);
    run.all();
    const auto tables = run.strategy->tables();
    const auto& table = tasks_of(tables);
    const auto& tasks = *table.find<std::int64_t>("tasks");
    const auto& sent = *table.find<double>("bytes_sent_per_task");
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(sent[i], tasks[i] > 0 ? 8 : 0);
    const auto& received = *table.find<double>("bytes_received_per_task");
    const double back =
        received[0] * static_cast<double>(tasks[0]) + received[1] * static_cast<double>(tasks[1]);
    EXPECT_LT(back / 500, 64) << "reports come in batches";
}

}  // namespace
}  // namespace ranklab::tests
