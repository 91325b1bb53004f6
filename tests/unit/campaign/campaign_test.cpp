// A campaign's file becomes sweeps, and jobs of Slurm.
#include "campaign/campaign.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "base/error.hpp"
#include "base/text.hpp"
#include "results/result_file.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::campaign {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

results::Run trained(const std::string& label, const std::string& threads, double step_s, int id) {
    results::Run run = results::sample_run(
        fmt::format("20261121T10150{}Z-{}{}", id, label == "c-gpu" ? "gpu00" : "cpu00", threads));
    run.label = label;
    run.warnings.clear();
    run.config = {{"model", "mnist-cnn", false},
                  {"mode", "single", false},
                  {"batch-size", "32", true},
                  {"global-batch-size", "32", true},
                  {"threads", threads, true}};
    run.hosts.resize(1);
    run.measurements = {results::one_value("step_time_s", "s", results::Kind::cost, {step_s})};
    run.tables.clear();
    return run;
}

class CampaignFile : public ::testing::Test {
  protected:
    Campaign campaign(const std::string& sections, const std::string& head = "") {
        return read_campaign(folder_.write(
            "c.ini", fmt::format("[campaign]\nname = c\nfolder = /f\n{}{}", head, sections)));
    }
    std::string refusal(const std::string& sections) {
        return tests::thrown_sentence<base::OptionError>([&] { campaign(sections); });
    }

    tests::TempFolder folder_;
};

constexpr const char* kSlurm = "launcher = slurm\nranks-per-node = 4\n";

TEST_F(CampaignFile, IsASweepASection) {
    const Campaign of = campaign(
        "[w]\ncommand = io\nranks = 1,2\nrepeat = 2\nsize = 10,20\n[t]\ncommand = train\n");
    ASSERT_EQ(of.jobs.size(), 2U);
    EXPECT_EQ(of.jobs[0].id, "w");
    EXPECT_EQ(of.jobs[0].sweep.points.size(), 4U);
    EXPECT_EQ(of.jobs[0].sweep.label, "c-w");
    EXPECT_EQ(of.jobs[0].sweep.output, "/f/results.h5");
    EXPECT_FALSE(of.jobs[0].sweep.launch.srun);
    EXPECT_THAT(of.jobs[0].sweep.points[0].words, IsSupersetOf({"--directory", "/f/files/w"}));
    EXPECT_THAT(of.jobs[1].sweep.points[0].words, IsSupersetOf({"--threads", "1"}));
}

TEST_F(CampaignFile, MakesAJobOfThePointsThatNeedAsManyNodes) {
    const Campaign of =
        campaign("[w]\ncommand = train\nranks = 1,4,8\nthreads = 2\ntime = 10\n", kSlurm);
    ASSERT_EQ(of.jobs.size(), 2U);
    EXPECT_EQ(of.jobs[0].id, "w-1n");
    EXPECT_EQ(of.jobs[0].ranks, 4);
    EXPECT_EQ(of.jobs[1].id, "w-2n");
    EXPECT_EQ(of.jobs[1].sweep.points.size(), 1U);
    EXPECT_EQ(of.sweeps.size(), 1U);
    EXPECT_EQ(of.sweeps[0].points.size(), 3U) << "one table";
    EXPECT_THAT(of.jobs[1].words,
                IsSupersetOf({"sweep", "train", "--ranks", "8", "--launcher", "srun"}));
}

// Runs of 8 and of 1 s a step: the second section is 8 times as fast as the best of the first.
TEST_F(CampaignFile, AnswersWhetherASectionIsWorthIt) {
    const auto answers = [&](double worth, int runs) {
        const Campaign of = campaign(
            fmt::format("[cpu]\ncommand = train\nthreads = 1,2\n"
                        "[gpu]\ncommand = train\nthreads = 1\nworth = {}\n",
                        worth),
            fmt::format("output = {}\n", (folder_.path() / fmt::format("{}.h5", runs)).string()));
        const results::ResultFile file(of.output);
        if (!std::filesystem::exists(of.output))
            for (int i = 0; i < std::abs(runs); ++i)
                for (const auto& [label, threads, seconds] :
                     {std::tuple("c-cpu", "1", 16.0), std::tuple("c-cpu", "2", 8.0),
                      std::tuple("c-gpu", "1", 1.0)})
                    if (runs > 0 || seconds > 1)  // below 0: on a host without a GPU
                        file.append(trained(label, threads, seconds * (1 + 0.01 * i), i));
        return answers_text(of);
    };
    EXPECT_THAT(answers(7, 4), AllOf(HasSubstr("worth it      yes: "), HasSubstr("label = c-gpu"),
                                     HasSubstr("threads = 2"), HasSubstr("8.00")));
    EXPECT_THAT(answers(9, 4), HasSubstr("worth it      no: "));
    EXPECT_THAT(answers(8, 4), HasSubstr("worth it      undecided: "));
    EXPECT_THAT(answers(7, 1), AllOf(HasSubstr("worth it      undecided: "),
                                     HasSubstr("interval between"), HasSubstr("not measured")));
    // Above the question, the verdict of each section; without the GPU, what the CPU can answer.
    EXPECT_THAT(answers(7, 5), HasSubstr("  cpu           best: threads = 2, 8.16 s, 2.00"));
    EXPECT_LT(answers(7, 5).find("  cpu "), answers(7, 5).find("worth it"));
    EXPECT_THAT(answers(7, -4), AllOf(HasSubstr("not known: c-gpu has no valid run"),
                                      HasSubstr("threads = 2, 8.12 s")));
    EXPECT_EQ(campaign("[w]\ncommand = io\n").questions.size(), 0U);
    EXPECT_THAT(refusal("[w]\ncommand = io\nworth = much\n"), HasSubstr("worth"));
}

TEST_F(CampaignFile, AScriptAsksForWhatTheWidestPointNeeds) {
    const Campaign of =
        campaign("[w]\ncommand = io\nranks = 8\nworkers = 3\ntime = 1:30\nlabel = it's\n",
                 std::string(kSlurm) +
                     "account = me\nsbatch-options = --exclusive\nprologue = module load x\n");
    EXPECT_THAT(script_of(of, of.jobs.front()),
                AllOf(HasSubstr("--nodes=2 --ntasks=8 --cpus-per-task=3 --time=90\n"),
                      HasSubstr("--ntasks-per-node=4\n"), HasSubstr("--account=me\n"),
                      HasSubstr("#SBATCH --exclusive\n"), HasSubstr("--signal=B:USR1@60\n"),
                      HasSubstr("module load x\nexec "), HasSubstr("--label 'it'\\''s'")));
}

TEST_F(CampaignFile, TimesAreMinutesOrClocks) {
    for (const auto& [text, minutes] : std::vector<std::pair<std::string, int>>{
             {"7", 7}, {"1:30", 90}, {"00:00:01", 1}, {"00:10:30", 11}, {"0", 1}})
        EXPECT_EQ(campaign("[w]\ncommand = io\ntime = " + text + "\n").jobs.front().minutes,
                  minutes)
            << text;
    for (const char* const text : {"soon", "1:2:3:4", "-1", "1:", "99999"})
        EXPECT_THAT(refusal(fmt::format("[w]\ncommand = io\ntime = {}\n", text)), HasSubstr("time"))
            << text;
}

TEST_F(CampaignFile, SentencesNameFileSectionAndKey) {
    EXPECT_THAT(refusal("[w]\ncommand = io\nsise = 3\n"),
                AllOf(HasSubstr("c.ini"), HasSubstr("[w]"), HasSubstr("sise"), HasSubstr("size")));
    EXPECT_THAT(refusal("[w]\ncommand = io\nranks = 0\n"),
                AllOf(HasSubstr("[w]"), HasSubstr("ranks")));
    EXPECT_THAT(refusal("[w]\ncommand = train\nscaling = strong\n"),
                AllOf(HasSubstr("[w]"), HasSubstr("global-batch-size")));
    EXPECT_THAT(refusal("[../w]\ncommand = io\n"), HasSubstr("../w"));
    EXPECT_THAT(refusal("[w]\nsize = 3\n"), HasSubstr("command"));
    EXPECT_THAT(refusal("[w]\ncommand = io\noutput = x.h5\n"), HasSubstr("output"));
    EXPECT_THAT(refusal("[w]\ncommand = io\nrace = true\n"), HasSubstr("race"));
    EXPECT_THAT(refusal(""), HasSubstr("sweep"));
}

}  // namespace
}  // namespace ranklab::campaign
