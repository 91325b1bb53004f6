#include "experiments/training/ablation.hpp"

#include <gtest/gtest.h>

#include "unit/stats/simulated.hpp"

namespace ranklab::experiments {
namespace {

TrialTimes trial(Trial kind, std::vector<double> seconds) {
    return {.trial = kind, .seconds = std::move(seconds), .steps = 2, .made = 2, .samples = 16};
}

double part(const std::vector<Part>& parts, const std::string& name) {
    for (const auto& row : parts) {
        if (row.part == name) return row.step_s;
    }
    ADD_FAILURE() << name;
    return 0;
}

// Two ranks, steps of 8 samples: rank 0 computes for 1.0 s a step, rank 1 for 1.2 s; the full step
// takes 2 s, without communication 1.7 s, without input 1.6 s.
const std::vector<TrialTimes> kTrials{trial(Trial::compute, {2.0, 2.4}),
                                      trial(Trial::nocomm, {2.8, 3.4}),
                                      trial(Trial::synthetic, {3.2, 3.2}),
                                      trial(Trial::io, {1.0, 1.0}), trial(Trial::full, {4.0, 4.0})};

TEST(Waterfall, PartsAddUpToTheStep) {
    const auto parts = waterfall(kTrials);
    EXPECT_NEAR(part(parts, "compute"), 1.0, 1e-12) << "the lower median over ranks";
    EXPECT_NEAR(part(parts, "imbalance"), 0.2, 1e-12) << "and what the slowest takes longer";
    EXPECT_NEAR(part(parts, "communication"), 0.3, 1e-12);
    EXPECT_NEAR(part(parts, "input"), 0.4, 1e-12);
    EXPECT_NEAR(part(parts, "rest"), 0.1, 1e-12);
    double step = 0, percent = 0, lost = 0;
    for (const auto& row : parts) {
        step += row.step_s;
        percent += row.percent;
        lost += row.lost;
    }
    EXPECT_NEAR(step, 2.0, 1e-12);
    EXPECT_NEAR(percent, 100, 1e-9);
    EXPECT_NEAR(parts.front().samples_per_s, 8 / 1.0, 1e-9);
    EXPECT_NEAR(parts.back().samples_per_s, 4.0, 1e-12) << "the full rate";
    EXPECT_NEAR(parts.front().samples_per_s - lost, 4.0, 1e-9);
    EXPECT_EQ(what_limits(kTrials).substr(0, 10), "undecided:") << "one round";
    auto rounds = kTrials;
    for (int more = 0; more < 2; ++more)
        rounds.insert(rounds.end(), kTrials.begin(), kTrials.end());
    EXPECT_EQ(what_limits(rounds).substr(0, 30), "compute limits: compute 50.0 %");
}

// Input and computing take equally long, and nobody is to say that one limits.
TEST(Waterfall, OfEqualPartsIsUndecided) {
    stats::Random random(3);
    int firm = 0;
    constexpr int kRuns = 200;
    for (int run = 0; run < kRuns; ++run) {
        std::vector<TrialTimes> trials;
        const auto about = [&](double s) { return s * (1 + 0.05 * random.normal()); };
        for (int round = 0; round < 3; ++round) {
            trials.push_back(trial(Trial::synthetic, {about(1)}));
            trials.push_back(trial(Trial::full, {about(2)}));
        }
        firm += what_limits(trials).starts_with("undecided") ? 0 : 1;
    }
    EXPECT_LE(firm, kRuns / 10);
}

TEST(Waterfall, OfOneRankHasNoCommunication) {
    const auto parts = waterfall({trial(Trial::synthetic, {1.0}), trial(Trial::full, {4.0})});
    EXPECT_NEAR(part(parts, "compute"), 0.5, 1e-12);
    EXPECT_EQ(part(parts, "communication"), 0);
    EXPECT_NEAR(part(parts, "input"), 1.5, 1e-12);
    EXPECT_NEAR(part(parts, "rest"), 0, 1e-12);
    EXPECT_NEAR(parts[3].percent, 75, 1e-9);
}

TEST(Ablation, MeansAndDeviationsAreBenchys) {
    auto trials = kTrials;
    trials.push_back(trial(Trial::full, {2.0, 1.0}));
    results::Run run;
    add_ablation(run, trials);
    const auto* full = run.find("throughput_full_samples_per_s");
    ASSERT_NE(full, nullptr);
    EXPECT_EQ(full->samples, (std::vector<double>{4, 8}));
    EXPECT_NEAR(full->summary.mean, 32.0 / 6, 1e-12) << "rates are not averaged";
    const auto& columns = run.find_table("ablation")->columns;
    EXPECT_EQ(std::get<std::vector<std::string>>(columns[0].values).back(), "full");
    EXPECT_EQ(std::get<std::vector<double>>(columns[3].values).back(), 6);
    EXPECT_EQ(std::get<std::vector<double>>(columns[4].values).back(), 2) << "of the population";
    EXPECT_TRUE(run.warnings.empty());
}

TEST(Ablation, HasNoRowForTrialsThatWereNotMade) {
    results::Run run;
    add_ablation(
        run, {trial(Trial::io, {1.0}), trial(Trial::synthetic, {1.0}), trial(Trial::full, {4.0})});
    EXPECT_EQ(run.find("throughput_nocomm_samples_per_s"), nullptr);
    EXPECT_EQ(run.find_table("ablation")->find<std::string>("trial")->size(), 3U);
}

}  // namespace
}  // namespace ranklab::experiments
