// Programs that start without MPI where neither the launcher nor their options ask for it. MPI can
// be started once in a process, so each program runs in a child of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "app/programs.hpp"
#include "app/session.hpp"
#include "base/error.hpp"
#include "comm/mpi_environment.hpp"
#include "results/result_file.hpp"
#include "temp_folder.hpp"

namespace ranklab::app {
namespace {

using ::testing::ExitedWithCode;

struct Settings {
    std::string act;
    bool with = false;
};

void act(const std::string& word) {
    if (word == "data") throw base::DataError("the data is wrong");
    if (word == "stall") std::this_thread::sleep_for(std::chrono::seconds(60));
    if (word == "abort") comm::MpiEnvironment::abort(42);
    if (word == "pipe") {
        std::raise(SIGPIPE);
        throw base::EnvironmentError("outlived SIGPIPE");
    }
}

experiments::Runs run(const std::string& word, const experiments::RunContext& context) {
    std::fprintf(stderr, "ranks %d, MPI %s\n", context.control.world_size(),
                 comm::MpiEnvironment::running() ? "runs" : "rests");
    act(word);
    experiments::Runs runs;
    runs.all.resize(word == "several" || word == "late" ? 2 : 1);
    if (word == "invalid") runs.all.front().exit_code = 7;
    if (word == "late")
        runs.failure = std::make_exception_ptr(base::EnvironmentError("the third one failed"));
    return runs;
}

experiments::LaunchNeeds needs(const options::Options& given) {
    const auto settings = given.fields<Settings>();
    if (settings.act == "refuse") throw base::OptionError("--act cannot be 'refuse'");
    return {.mpi = settings.with};
}

experiments::Plan settle(const options::Options& given, const vocabulary::CommonSettings&,
                         comm::Communicator&) {
    return {.run = [word = given.fields<Settings>().act](const auto& context) {
        return run(word, context);
    }};
}

// Says on stderr how it was started, then does what --act says.
experiments::Experiment probe() {
    return {.command = "probe",
            .summary = "looks whether MPI runs",
            .options = options::Schema()
                           .section("Probe")
                           .text("act", &Settings::act, "WORD", "what to do")
                           .flag("with", &Settings::with, "needs MPI"),
            .needs = needs,
            .settle = settle};
}

[[noreturn]] void run_probe(std::vector<std::string> words, bool store = false) {
    words.insert(words.begin(), "ranklab-probe");
    if (!store) words.insert(words.end(), {"--output", "none"});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    std::exit(run_experiment(static_cast<int>(arguments.size()), arguments.data(), probe()));
}

constexpr const char* kWithout = "ranks 1, MPI rests";
constexpr const char* kWith = "ranks 1, MPI runs";

// The environment of the test itself must not hold what a launcher says.
class StartWithoutMpi : public ::testing::Test {
  protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "fast");
        for (const char* name :
             {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMIX_NAMESPACE",
              "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_STEP_ID"})
            ::unsetenv(name);
    }
};
using StartWithoutMpiDeathTest = StartWithoutMpi;

TEST_F(StartWithoutMpiDeathTest, ALoneProcessThatNeedsNone) {
    EXPECT_EXIT(run_probe({}), ExitedWithCode(0), kWithout);
    EXPECT_EXIT(run_probe({"--expect-ranks", "1"}), ExitedWithCode(0), kWithout);
}

TEST_F(StartWithoutMpiDeathTest, OptionsThatNeedMpiGetIt) {
    EXPECT_EXIT(run_probe({"--with"}), ExitedWithCode(0), kWith);
}

// The options in the file are not known yet.
TEST_F(StartWithoutMpiDeathTest, AConfigFileGetsMpi) {
    const tests::TempFolder folder;
    const auto file = folder.write("probe.ini", "label = one\n");
    EXPECT_EXIT(run_probe({"--config", file.string()}), ExitedWithCode(0), kWith);
}

TEST_F(StartWithoutMpiDeathTest, ATraceOfALauncherGetsMpi) {
    ::setenv("SLURM_PROCID", "0", 1);
    EXPECT_EXIT(run_probe({}), ExitedWithCode(0), kWith);
    ::unsetenv("SLURM_PROCID");
}

TEST_F(StartWithoutMpiDeathTest, TheLaunchGuardStands) {
    EXPECT_EXIT(run_probe({"--expect-ranks", "2"}), ExitedWithCode(5),
                "--expect-ranks 2 was given, but MPI connects 1 rank");
    ::setenv("SLURM_PROCID", "0", 1);
    ::setenv("SLURM_NTASKS", "2", 1);
    EXPECT_EXIT(run_probe({}), ExitedWithCode(5),
                "srun started 2 processes, but MPI connects 1 rank");
    ::unsetenv("SLURM_PROCID");
    ::unsetenv("SLURM_NTASKS");
}

TEST_F(StartWithoutMpiDeathTest, ExitCodesAreThose) {
    EXPECT_EXIT(run_probe({"--act", "data"}), ExitedWithCode(3), "the data is wrong");
    EXPECT_EXIT(run_probe({"--act", "invalid"}), ExitedWithCode(7), kWithout);
    EXPECT_EXIT(run_probe({"--act", "refuse"}), ExitedWithCode(2), "--act cannot be");
    EXPECT_EXIT(run_probe({"--nonsense"}), ExitedWithCode(2), "unknown option --nonsense");
    EXPECT_EXIT(run_probe({"--act", "abort"}), ExitedWithCode(42), kWithout);
}

TEST_F(StartWithoutMpiDeathTest, AClosedPipeIsNoSignal) {
    EXPECT_EXIT(run_probe({"--act", "pipe"}), ExitedWithCode(5), "outlived SIGPIPE");
}

TEST_F(StartWithoutMpiDeathTest, TheWatchdogEndsIt) {
    EXPECT_EXIT(run_probe({"--act", "stall", "--stall-timeout", "1"}), ExitedWithCode(5),
                "no progress for 1 s while starting; job aborted");
}

TEST_F(StartWithoutMpiDeathTest, TheRunSaysWhichItWas) {
    const tests::TempFolder folder;
    const std::string file = (folder / "runs.h5").string();
    EXPECT_EXIT(run_probe({"--output", file}, true), ExitedWithCode(0), kWithout);
    EXPECT_EXIT(run_probe({"--with", "--output", file}, true), ExitedWithCode(0), kWith);
    std::vector<std::string> said;
    for (const auto& run : results::ResultFile(file).read_all()) {
        for (const auto& fact : run.context) {
            if (fact.section == "process" && fact.key == "mpi") said.push_back(fact.value);
        }
    }
    EXPECT_THAT(said, ::testing::ElementsAre(::testing::StartsWith("not started"), "started"));
}

TEST_F(StartWithoutMpiDeathTest, SeveralRunsAreStoredThoughALaterOneFailed) {
    const tests::TempFolder folder;
    const std::string file = (folder / "runs.h5").string();
    EXPECT_EXIT(run_probe({"--act", "several", "--output", file}, true), ExitedWithCode(0),
                kWithout);
    EXPECT_EXIT(run_probe({"--act", "late", "--output", file}, true), ExitedWithCode(5),
                "the third one failed");
    EXPECT_EQ(results::ResultFile(file).read_all().size(), 4U);
}

// Last: what is started here is not started again.
TEST_F(StartWithoutMpi, ASessionOfEachKindInOneProcess) {
    {
        Session session(comm::Start::without_mpi);
        EXPECT_FALSE(comm::MpiEnvironment::running());
        EXPECT_EQ(session.control().world_size(), 1);
        EXPECT_EQ(session.conclude([] { return 3; }), 3);
        EXPECT_EQ(session.conclude([]() -> int { throw base::OptionError("wrong"); }), 2);
        EXPECT_EQ(session.gather_placements(1).size(), 1U);
    }
    {
        Session session;
        EXPECT_TRUE(comm::MpiEnvironment::running());
    }
    EXPECT_FALSE(comm::MpiEnvironment::running());
}

}  // namespace
}  // namespace ranklab::app
