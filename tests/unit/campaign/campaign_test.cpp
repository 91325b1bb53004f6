// What a campaign's file becomes: workloads, jobs, and the script of each.
#include "campaign/campaign.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "campaign/jobs.hpp"
#include "campaign/script.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::campaign {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr const char* kHead = "[campaign]\nname = c\nfolder = /f\n";

class CampaignFile : public ::testing::Test {
  protected:
    Campaign campaign(const std::string& workloads) {
        return read(folder_.write("c.ini", kHead + workloads));
    }
    std::vector<Job> jobs(const std::string& workloads) { return jobs_of(campaign(workloads)); }
    Job job(const std::string& workloads) { return jobs(workloads).front(); }
    std::string refusal(const std::string& workloads) {
        return tests::thrown_sentence<base::OptionError>([&] { campaign(workloads); });
    }

    tests::TempFolder folder_;
};

std::set<std::string> ids(const std::vector<Job>& jobs) {
    std::set<std::string> all;
    for (const auto& job : jobs) all.insert(job.id);
    return all;
}

TEST_F(CampaignFile, MakesAJobOfEachRankCountAlternativeAndRepetition) {
    const auto all = jobs("[w]\ncommand = io\nranks = 1,2,2\nrepeat = 2\nsize = 10|20\nfiles = 4\n");
    EXPECT_EQ(all.size(), 8U) << "2 is there once";
    EXPECT_THAT(ids(all), IsSupersetOf({"w-1r-10-rep1", "w-2r-20-rep2"}));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].repetition, i < 4 ? 1 : 2) << "in rounds";
    EXPECT_EQ(ids(jobs_of(read(folder_ / "c.ini"))), ids(all));
}

TEST_F(CampaignFile, NamesThatBecomeEqualStayTwoJobs) {
    EXPECT_EQ(ids(jobs("[w]\ncommand = train\nmodel = a/b|a:b\nrepeat = 1\n")).size(), 2U);
}

TEST_F(CampaignFile, NodesFollowFromTheRanksOfEach) {
    EXPECT_EQ(job("[w]\ncommand = io\nranks = 9\nranks-per-node = 4\n").nodes, 3);
    EXPECT_EQ(job("[w]\ncommand = io\nranks = 9\n").nodes, 1);
    EXPECT_EQ(job("[w]\ncommand = io\nranks = 2\nranks-per-node = 4\n").ranks_per_node, 2);
}

TEST_F(CampaignFile, TimesAreMinutesOrClocks) {
    for (const auto& [text, minutes] : std::vector<std::pair<std::string, int>>{
             {"7", 7}, {"1:30", 90}, {"00:00:01", 1}, {"00:10:30", 11}, {"0", 1}})
        EXPECT_EQ(job("[w]\ncommand = io\ntime = " + text + "\n").minutes, minutes) << text;
    for (const char* const text : {"soon", "1:2:3:4", "-1", "1:", "99999"})
        EXPECT_THAT(refusal(fmt::format("[w]\ncommand = io\ntime = {}\n", text)), HasSubstr("time")) << text;
}

TEST_F(CampaignFile, WeakScalingOfFilesGivesEachRankAsMany) {
    EXPECT_THAT(job("[w]\ncommand = io\nscaling = weak\nfiles = 4\nranks = 3\n").words,
                IsSupersetOf({"--files", "12"}));
    EXPECT_THAT(job("[w]\ncommand = io\nscaling = strong\nfiles = 4\nranks = 3\n").words,
                IsSupersetOf({"--files", "4"}));
}

TEST_F(CampaignFile, OneRankHasNothingToReduce) {
    const std::string text = "[w]\ncommand = train\nsync = flat\nbackend = mpi\nmode = ddp\nranks = ";
    EXPECT_THAT(job(text + "1\n").words,
                Not(::testing::AnyOf(::testing::Contains("--sync"), ::testing::Contains("--backend"),
                                     ::testing::Contains("--mode"))));
    EXPECT_THAT(job(text + "2\n").words, IsSupersetOf({"--sync", "--backend", "--mode"}));
}

TEST_F(CampaignFile, JobsOfFilesHaveFoldersOfTheirOwn) {
    std::set<std::string> folders;
    for (const auto& one : jobs("[w]\ncommand = io\nranks = 1,2\nrepeat = 3\ndirectory = /scratch\n"))
        folders.insert(*(std::ranges::find(one.words, "--directory") + 1));
    EXPECT_EQ(folders.size(), 6U);
    EXPECT_THAT(*folders.begin(), HasSubstr("/scratch/w-1r-rep1.files"));
}

TEST_F(CampaignFile, JobsGoOnFromCheckpointsOfTheirOwn) {
    std::set<std::string> folders;
    for (const auto& one : jobs("[w]\ncommand = train\nranks = 1,2\nrepeat = 3\ncheckpoint = /scratch\n")) {
        EXPECT_EQ(*(std::ranges::find(one.words, "--checkpoint") + 1), one.checkpoint);
        EXPECT_EQ(std::ranges::count(one.words, "--resume"), 1);
        folders.insert(one.checkpoint);
    }
    EXPECT_EQ(folders.size(), 6U);
    EXPECT_EQ(*folders.begin(), "/scratch/w-1r-rep1");
    EXPECT_EQ(job("[w]\ncommand = train\n").checkpoint, "");
}

TEST_F(CampaignFile, SentencesNameFileSectionAndKey) {
    EXPECT_THAT(refusal("[w]\ncommand = io\nsise = 3\n"),
                AllOf(HasSubstr("c.ini"), HasSubstr("[w]"), HasSubstr("sise"), HasSubstr("size")));
    EXPECT_THAT(refusal("[w]\ncommand = io\nranks = 0\n"), AllOf(HasSubstr("[w]"), HasSubstr("ranks")));
    EXPECT_THAT(refusal("[../w]\ncommand = io\n"), HasSubstr("../w"));
    EXPECT_THAT(refusal("[w]\nsize = 3\n"), HasSubstr("command"));
}

TEST_F(CampaignFile, AScriptSaysWhatItMeasuresForTheQueueAndByHand) {
    folder_.write("c.ini",
                  "[campaign]\nname = c\nfolder = /f a%b\"\nlauncher = slurm\naccount = me\n"
                  "sbatch-options = --exclusive\n[w]\ncommand = io\nranks = 4\nranks-per-node = 2\n"
                  "threads = 3\ntime = 10\nlabel = it's\n");
    const Campaign of = read(folder_ / "c.ini");
    const std::string text = script_of(of, jobs_of(of).front(), "/opt/ranklab", "/work folder");
    EXPECT_THAT(text, AllOf(HasSubstr("--nodes=2 --ntasks=4 --cpus-per-task=3 --time=10\n"),
                            HasSubstr("--ntasks-per-node=2\n"), HasSubstr("--account=me\n"),
                            HasSubstr("#SBATCH --exclusive\n"), HasSubstr("--signal=B:USR1@60\n"),
                            HasSubstr("--output=\"/f a%%b\\\"/jobs/w-4r-rep1.log\""),
                            HasSubstr("cd '/work folder'"), HasSubstr("--label 'it'\\''s'")));
}

TEST_F(CampaignFile, ChangedWordsAreSeen) {
    const std::string text =
        fmt::format("[campaign]\nfolder = {}\n[w]\ncommand = io\nsize = ", folder_.path().string());
    const auto of = [&](const char* size) { return read(folder_.write("c.ini", text + size + "\n")); };
    const Campaign before = of("10");
    EXPECT_EQ(changed_words(before, jobs_of(before).front()), "") << "there is no script";
    write_scripts(before, jobs_of(before));
    EXPECT_EQ(changed_words(before, jobs_of(before).front()), "");
    const Campaign after = of("20");
    EXPECT_THAT(changed_words(after, jobs_of(after).front()),
                AllOf(HasSubstr("--size 10"), HasSubstr("--size 20")));
}

}  // namespace
}  // namespace ranklab::campaign
