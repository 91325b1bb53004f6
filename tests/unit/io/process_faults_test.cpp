// Faults of process-pool and process-queue: each one throws, and no process stays.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>

#include "base/error.hpp"
#include "process_fixture.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ProcessFaults : public testing::TestWithParam<Way> {
  protected:
    void use(ProcessStrategyRun& run) const { run.job.async = GetParam().async; }
    void TearDown() override { EXPECT_TRUE(has_no_child()) << "a worker lives on, or is a zombie"; }

    // The message of the EnvironmentError if this shell script is the worker program.
    std::string of_script(const std::string& script) const {
        ProcessStrategyRun run(GetParam().strategy, 3, 10, 2);
        use(run);
        run.job.worker_program = run.folder.write("worker", "#!/bin/sh\n" + script + "\n");
        fs::permissions(run.job.worker_program, fs::perms::owner_all);
        return thrown_sentence<base::EnvironmentError>([&] { run.all(); });
    }
};

INSTANTIATE_TEST_SUITE_P(, ProcessFaults, testing::ValuesIn(kWays), label_of);

std::string killed(std::size_t worker, pid_t process) {
    return "worker " + std::to_string(worker) + " (process " + std::to_string(process) +
           ") was killed by signal 9 (Killed)";
}

TEST_P(ProcessFaults, AWorkerKilledWhileIdle) {
    ProcessStrategyRun run(GetParam().strategy, 50, 10, 3);
    use(run);
    run.open();
    const auto workers = children_of(::getpid());
    ASSERT_EQ(workers.size(), 3U);
    ::kill(workers[1], SIGKILL);
    // Other workers may take all ids before this one ends: then close() throws.
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] {
        run.strategy->write();
        run.strategy->close();
    });
    EXPECT_THAT(sentence, HasSubstr(killed(1, workers[1])));
}

TEST_P(ProcessFaults, AWorkerKilledAtWork) {
    ProcessStrategyRun run(GetParam().strategy, 5000, 40, 2);
    use(run);
    pid_t victim = 0;
    run.on_done = [&](std::int64_t more) {
        if (more == 0 || victim != 0) return;
        victim = children_of(::getpid()).at(0);
        ::kill(victim, SIGKILL);
    };
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.all(); });
    EXPECT_THAT(sentence, HasSubstr(killed(0, victim)));
    EXPECT_LT(run.done, 5000);
}

TEST_P(ProcessFaults, AllWorkersKilled) {
    ProcessStrategyRun run(GetParam().strategy, 5000, 40, 4);
    use(run);
    run.open();
    for (const pid_t worker : children_of(::getpid())) ::kill(worker, SIGKILL);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.strategy->write(); });
    EXPECT_THAT(sentence, AllOf(HasSubstr("worker "), HasSubstr("signal 9")));
}

TEST_P(ProcessFaults, AnInterruptEndsTheWorkers) {
    ProcessStrategyRun run(GetParam().strategy, 100000, 20, 3);
    use(run);
    run.on_done = [&](std::int64_t) {
        if (run.done >= 5) throw base::Interrupted("stopped", SIGINT);
    };
    run.open();
    EXPECT_EQ(thrown_sentence<base::Interrupted>([&] { run.strategy->write(); }), "stopped");
    run.strategy.reset();
    EXPECT_TRUE(has_no_child());
    for (const auto& entry : fs::directory_iterator(run.job.directory))
        EXPECT_EQ(fs::file_size(entry.path()), 128U + 8 * 400) << "half a file: " << entry.path();
}

TEST_P(ProcessFaults, AStrategyThatIsDroppedTakesItsWorkersAlong) {
    ProcessStrategyRun run(GetParam().strategy, 10, 20, 3);
    use(run);
    run.open();
    EXPECT_EQ(children_of(::getpid()).size(), 3U);
    run.strategy.reset();
    EXPECT_TRUE(has_no_child());
}

TEST_P(ProcessFaults, TheFolderVanishes) {
    ProcessStrategyRun run(GetParam().strategy, 5000, 40, 2);
    use(run);
    run.open();
    fs::remove(run.job.directory);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.strategy->write(); });
    EXPECT_THAT(sentence,
                AllOf(HasSubstr("worker "), HasSubstr("(process "), HasSubstr("output/data0000"),
                      HasSubstr("--directory"), HasSubstr("No such file")));
}

TEST_P(ProcessFaults, AFileWhereTheFolderShouldBe) {
    ProcessStrategyRun run(GetParam().strategy, 10, 10, 2);
    use(run);
    fs::remove(run.job.directory);
    run.folder.write("output", "a file");
    const auto sentence = thrown_sentence<base::OptionError>([&] { run.all(); });
    EXPECT_THAT(sentence, HasSubstr("Not a directory"));
}

TEST_P(ProcessFaults, NoRoomForAFile) {
    ProcessStrategyRun run(GetParam().strategy, 10, 100, 2);
    use(run);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{10000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    run.open();  // the workers inherit it
    ::setrlimit(RLIMIT_FSIZE, &before);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.strategy->write(); });
    EXPECT_THAT(sentence, HasSubstr("no room"));
    run.strategy.reset();  // waits for the other worker, which may still be at its file
    EXPECT_TRUE(fs::is_empty(run.job.directory)) << "half a file stays";
}

TEST_P(ProcessFaults, NoProgramForTheWorkers) {
    ProcessStrategyRun run(GetParam().strategy, 10, 10, 2);
    use(run);
    run.job.worker_program = run.folder / "nowhere";
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.open(); });
    EXPECT_THAT(sentence, AllOf(HasSubstr("nowhere"), HasSubstr("ranklab-io")));
}

TEST_P(ProcessFaults, TheProgramLiesBesideThisOne) {
    ProcessStrategyRun run(GetParam().strategy, 10, 10, 2);
    use(run);
    run.job.worker_program.clear();
    const auto beside = fs::read_symlink("/proc/self/exe").parent_path() / "ranklab-io-worker";
    ASSERT_FALSE(fs::exists(beside)) << "tests lie in a folder of their own";
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.open(); });
    EXPECT_THAT(sentence,
                HasSubstr("cannot be started from " + beside.string() + ": No such file"));
}

TEST_P(ProcessFaults, AProgramThatCannotBeStarted) {
    ProcessStrategyRun run(GetParam().strategy, 10, 10, 2);
    use(run);
    run.job.worker_program = run.folder.write("worker", "no program");
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.open(); });
    EXPECT_THAT(sentence,
                AllOf(HasSubstr("worker 0 cannot be started"), HasSubstr("Permission denied")));
}

TEST_P(ProcessFaults, AWorkerThatExitsAtOnce) {
    EXPECT_THAT(of_script("exit 42"), HasSubstr("exit code 42"));
}

// Workers end after their parent is killed, even while they write.
TEST_P(ProcessFaults, TheParentDies) {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans come to this process
    const pid_t parent = ::fork();
    if (parent == 0) {
        ProcessStrategyRun run(GetParam().strategy, 1000000, 20, 3);
        use(run);
        run.on_done = [&](std::int64_t) {
            if (run.done >= 5) ::kill(::getpid(), SIGKILL);
        };
        run.all();
        std::_Exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(eventually([] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return has_no_child();
    })) << "workers outlive their parent";
    for (const pid_t worker : children_of(::getpid())) ::kill(worker, SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_P(ProcessFaults, AWorkerKilledAfterItsWork) {
    ProcessStrategyRun run(GetParam().strategy, 4, 10, 2);
    use(run);
    run.open();
    run.strategy->write();
    const auto workers = children_of(::getpid());
    ::kill(workers.at(1), SIGKILL);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.strategy->close(); });
    EXPECT_THAT(sentence, HasSubstr(killed(1, workers.at(1))));
    EXPECT_TRUE(has_no_child());
}

TEST(IoWorker, StartedByHandSaysWhatItIs) {
    const TempFolder folder;
    const auto output = folder / "output";
    const std::string command =
        std::string(RANKLAB_IO_WORKER) + " 3>&- > " + output.string() + " 2>&1 < /dev/null";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 2);
    EXPECT_THAT(bytes_in(output), AllOf(HasSubstr("worker process"), HasSubstr("ranklab io")));
}

}  // namespace
}  // namespace ranklab::tests
