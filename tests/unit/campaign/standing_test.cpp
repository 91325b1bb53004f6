// What the files of a job and the queue say together.
#include "campaign/standing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/proc_stat.hpp"
#include "campaign/slurm.hpp"
#include "host/facts.hpp"
#include "temp_folder.hpp"

namespace ranklab::campaign {
namespace {

using ::testing::HasSubstr;

class StandingOfAJob : public ::testing::Test {
  protected:
    StandingOfAJob() {
        std::filesystem::create_directories(folder_ / "jobs");
        campaign_.name = "c";
        campaign_.folder = folder_.path();
        campaign_.launcher = Launcher::slurm;
        job_.id = "w-1r-rep1";
    }
    void put(const std::string& kind, const std::string& text) {
        folder_.write("jobs/w-1r-rep1." + kind, text);
    }
    void end(int code, const std::string& by) {
        put("end", fmt::format("exit_code={}\nbegun=100.5\nended=103.0\nby={}\n", code, by));
    }
    void queue(const std::string& number, bool running, const std::string& reason = "None") {
        queue_.jobs.insert({queue_name(campaign_, job_), {number, running, reason}});
        queue_.names[number] = queue_name(campaign_, job_);
    }
    Standing standing() {
        return standings(campaign_, {job_}, [&] { return std::optional(queue_); }).jobs.front();
    }
    State state() { return standing().state; }

    tests::TempFolder folder_;
    Campaign campaign_;
    Job job_;
    Queue queue_;
};

std::string this_process() {
    return fmt::format("process {} {} {}\n", ::getpid(),
                       base::stat_field(base::stat_after_name("/proc/self"), 22), host::host_name());
}

TEST_F(StandingOfAJob, IsOpenWithoutFilesAndWaitsInTheQueue) {
    EXPECT_EQ(state(), State::open);
    queue("17", false, "ReqNodeNotAvail");
    EXPECT_EQ(state(), State::waiting);
    EXPECT_EQ(standing().sentence, "ReqNodeNotAvail");
}

TEST_F(StandingOfAJob, IsDoneWhereItsResultsAreWhateverElseIsThere) {
    put("claim", "slurm 17 0\n");
    end(1, "slurm 17 0");
    queue("18", true);
    put("h5", "x");
    EXPECT_EQ(state(), State::done);
    EXPECT_EQ(standing().seconds, 0) << "of the attempt that failed";
    end(7, "slurm 17 0");
    EXPECT_DOUBLE_EQ(standing().seconds, 2.5);
    EXPECT_EQ(standing().exit_code, 7);
}

TEST_F(StandingOfAJob, EndsAsItsOwnerSaid) {
    put("claim", "slurm 17 0\n");
    put("err",
        "warning: a\nrank 0: no room\n------------------------------\nmpirun says\n"
        "------------------------------\nsrun: error: n1\n");
    for (const auto& [code, expected] : std::vector<std::pair<int, State>>{{1, State::failed},
                                                                           {5, State::failed},
                                                                           {6, State::unfinished},
                                                                           {128 + SIGTERM, State::unfinished},
                                                                           {128 + SIGUSR1, State::unfinished},
                                                                           {128 + SIGKILL, State::failed},
                                                                           {128 + SIGSEGV, State::failed}}) {
        end(code, "slurm 17 0");
        EXPECT_EQ(state(), expected) << code;
        EXPECT_EQ(standing().sentence, "rank 0: no room");
    }
    end(5, "slurm 16 0");
    EXPECT_EQ(state(), State::lost) << "another attempt said so";
}

TEST_F(StandingOfAJob, RunsWhileItsOwnerIsInTheQueue) {
    put("claim", "slurm 17 0\n");
    EXPECT_EQ(state(), State::lost);
    queue_.names["17"] = "interactive";  // by hand, within salloc
    EXPECT_EQ(state(), State::running);
    queue("17", true);
    EXPECT_EQ(state(), State::running);
    end(5, "slurm 17 0");
    EXPECT_EQ(state(), State::failed) << "Slurm cleans up after it";
}

TEST_F(StandingOfAJob, IsLostWhereSlurmHasGivenItsNumberToAnotherJobOfTheCampaign) {
    put("claim", "slurm 17 0\n");
    Job other;
    other.id = "w-2r-rep1";
    const auto name = queue_name(campaign_, other);
    queue_.names["17"] = name;
    queue_.jobs.insert({name, {"17", true, ""}});
    EXPECT_EQ(state(), State::lost);
}

TEST_F(StandingOfAJob, WaitsWhereSlurmHasQueuedItAgain) {
    put("claim", "slurm 17 0\n");
    end(143, "slurm 17 0");
    queue("17", false);
    EXPECT_EQ(state(), State::waiting);
}

TEST_F(StandingOfAJob, IsARunningGuessWhereSlurmDoesNotAnswer) {
    put("claim", "slurm 17 0\n");
    const auto all = standings(campaign_, {job_}, [] { return std::optional<Queue>(); });
    EXPECT_FALSE(all.queue_answers);
    EXPECT_EQ(all.jobs.front().state, State::running);
}

TEST_F(StandingOfAJob, RunsWhileItsProcessLives) {
    put("claim", this_process());
    EXPECT_EQ(state(), State::running);
    EXPECT_EQ(local_process(campaign_, job_), ::getpid());
    put("claim", fmt::format("process {} 1 {}\n", ::getpid(), host::host_name()));
    EXPECT_EQ(state(), State::lost) << "the number is another process's now";
    EXPECT_EQ(local_process(campaign_, job_), 0);
    put("claim", "process 1 1 another-host\n");
    EXPECT_EQ(state(), State::running) << "it cannot be asked";
    EXPECT_EQ(local_process(campaign_, job_), 0);
}

TEST_F(StandingOfAJob, IsLostWhereAClaimSaysNothing) {
    for (const char* const text : {"", "\n", "what is this", "process x y"}) {
        put("claim", text);
        EXPECT_EQ(state(), State::lost) << text;
    }
}

// Its owner may enter and leave the queue between two looks: a claim is taken to be lost only where the queue
// was asked after the claim was read.
TEST_F(StandingOfAJob, IsNotLostWhereItsOwnerCameAfterTheClaimWasRead) {
    const auto all = standings(campaign_, {job_}, [&] {
        put("claim", "slurm 17 0\n");
        return std::optional(queue_);
    });
    EXPECT_NE(all.jobs.front().state, State::lost);
}

TEST_F(StandingOfAJob, OpensAgainWhatFailedAndNothingElse) {
    put("claim", "slurm 17 0\n");
    std::vector<Standing> all{standing()};
    reopen(campaign_, {job_}, all);
    EXPECT_EQ(all.front().state, State::open);
    EXPECT_EQ(state(), State::open);
    put("claim", this_process());
    all = {standing()};
    reopen(campaign_, {job_}, all);
    EXPECT_EQ(state(), State::running);
}

}  // namespace
}  // namespace ranklab::campaign
