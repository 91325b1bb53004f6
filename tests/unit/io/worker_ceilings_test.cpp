// The ceilings of the strategies whose worker processes write at the same time: by as many processes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/error.hpp"
#include "io/ceilings.hpp"
#include "process_fixture.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

using ::testing::HasSubstr;
using tests::thrown_sentence;

class WorkerCeilings : public ::testing::Test {
  protected:
    WorkerCeilings() {
        work_.directory = folder_ / "output";
        std::filesystem::create_directory(work_.directory);
        work_.records = 7;
        work_.bytes_per_record = 100000;
        work_.memory_copy = false;
        work_.workers = 3;
        work_.worker_program = RANKLAB_IO_WORKER;
    }
    /// A shell's lines in place of the worker.
    void be_script(const std::string& lines) {
        work_.worker_program = folder_.write("script", "#!/bin/sh\n" + lines + "\n");
        std::filesystem::permissions(work_.worker_program, std::filesystem::perms::owner_all);
    }
    std::size_t started() {
        std::ifstream log((folder_ / "log").string());
        std::size_t lines = 0;
        for (std::string line; std::getline(log, line);) ++lines;
        return lines;
    }
    std::string log_and_be_worker() {
        return fmt::format("echo x >> {}; exec {}", (folder_ / "log").string(), RANKLAB_IO_WORKER);
    }

    tests::TempFolder folder_;
    tests::NoCommunicator ranks_;
    CeilingWork work_;
};

TEST_F(WorkerCeilings, AreMeasuredByAsManyProcesses) {
    be_script(log_and_be_worker());
    work_.memory_copy = true;
    const auto found = measure_ceilings(ranks_, work_);
    EXPECT_EQ(started(), 3U);
    EXPECT_EQ(found.write_own.amount, 700000);
    EXPECT_EQ(found.create.amount, 7);
    EXPECT_GE(found.memory_copy.amount, 700000);
    EXPECT_TRUE(found.write_own.known() && found.create.known() && found.memory_copy.known());
    EXPECT_FALSE(found.write_shared.known());
    EXPECT_TRUE(std::filesystem::is_empty(work_.directory));
    EXPECT_TRUE(tests::children_of(::getpid()).empty());
}

TEST_F(WorkerCeilings, NoMoreProcessesThanRecords) {
    be_script(log_and_be_worker());
    work_.records = 2;
    work_.workers = 9;
    EXPECT_EQ(measure_ceilings(ranks_, work_).create.amount, 2);
    EXPECT_EQ(started(), 2U);
}

TEST_F(WorkerCeilings, NothingToDo) {
    work_.records = 0;
    EXPECT_FALSE(measure_ceilings(ranks_, work_).create.known());
}

TEST_F(WorkerCeilings, AFullDiskIsSaidAndNothingStays) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{10000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { measure_ceilings(ranks_, work_); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(sentence, HasSubstr("there is no room"));
    EXPECT_TRUE(std::filesystem::is_empty(work_.directory));
}

TEST_F(WorkerCeilings, AWorkerThatEndsIsNamed) {
    be_script("exit 42");
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { measure_ceilings(ranks_, work_); });
    EXPECT_THAT(sentence, HasSubstr("ended with exit code 42"));
    EXPECT_TRUE(tests::children_of(::getpid()).empty());
}

// Records enough that there is progress to tell of: a ceiling that takes long is no stall, and can be
// stopped.
TEST_F(WorkerCeilings, TellTheirProgressAndStop) {
    work_.records = 20000;
    work_.bytes_per_record = 1 << 20;
    work_.fsync = true;
    work_.between = [] { throw base::Interrupted("stopped", SIGINT); };
    EXPECT_EQ(thrown_sentence<base::Interrupted>([&] { measure_ceilings(ranks_, work_); }), "stopped");
    EXPECT_TRUE(std::filesystem::is_empty(work_.directory));
    EXPECT_TRUE(tests::children_of(::getpid()).empty());
}

}  // namespace
}  // namespace ranklab::io
