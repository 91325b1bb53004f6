#include "app/take_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <set>
#include <string>

#include "base/error.hpp"

namespace ranklab::app {
namespace {

using experiments::Variant;
using experiments::Work;

// Writes down what is asked of it.
class Noted final : public Work {
  public:
    Noted(std::size_t variant, int repetitions, std::vector<std::string>& log)
        : name_(std::to_string(variant)), left_(repetitions), log_(log) {}
    ~Noted() override { log_.push_back("end " + name_); }
    bool repeat() override {
        log_.push_back(name_);
        return --left_ > 0;
    }
    void rest() override { log_.push_back("rest " + name_); }
    results::Run finish() override {
        results::Run run;
        run.id = name_;
        return run;
    }

  private:
    std::string name_;
    int left_;
    std::vector<std::string>& log_;
};

struct Outcome {
    std::vector<std::string> log;
    std::vector<FinishedRun> runs;
    std::vector<std::size_t> kept;  // finished before those in front of them
};

Outcome make(const std::vector<Variant>& variants, const std::vector<int>& repetitions, std::uint64_t seed) {
    Outcome outcome;
    take_turns(variants, seed,
               {.begin =
                    [&](std::size_t i) {
                        outcome.log.push_back("begin " + std::to_string(i));
                        return std::make_unique<Noted>(i, repetitions[i], outcome.log);
                    },
                .finished =
                    [&](std::size_t i, const results::Run& run) {
                        EXPECT_EQ(run.id, std::to_string(i));
                        outcome.kept.push_back(i);
                    },
                .take = [&](FinishedRun&& run) { outcome.runs.push_back(std::move(run)); }});
    return outcome;
}

std::vector<std::string> repeats(const Outcome& outcome) {
    std::vector<std::string> names;
    for (const auto& line : outcome.log)
        if (line.size() == 1) names.push_back(line);
    return names;
}

TEST(TakeTurns, EveryVariantRepeatsOnceARound) {
    const auto outcome = make({{}, {}, {}}, {4, 4, 4}, 1);
    const auto names = repeats(outcome);
    ASSERT_EQ(names.size(), 12U);
    for (std::size_t round = 0; round < 4; ++round) {
        const auto begin = names.begin() + static_cast<std::ptrdiff_t>(3 * round);
        EXPECT_EQ(std::set<std::string>(begin, begin + 3).size(), 3U) << "round " << round;
    }
    EXPECT_EQ(std::count_if(outcome.log.begin(), outcome.log.end(),
                            [](const auto& line) { return line.starts_with("rest"); }),
              9)
        << "not after the last repetition";
}

TEST(TakeTurns, TheOrderIsTheSeedsAndChangesFromRoundToRound) {
    const std::vector<Variant> four(4);
    const std::vector<int> ten(4, 10);
    EXPECT_EQ(repeats(make(four, ten, 7)), repeats(make(four, ten, 7)));
    EXPECT_NE(repeats(make(four, ten, 7)), repeats(make(four, ten, 8)));
    const auto names = repeats(make(four, ten, 7));
    std::set<std::vector<std::string>> rounds;
    for (std::size_t i = 0; i < 40; i += 4)
        rounds.insert({names[i], names[i + 1], names[i + 2], names[i + 3]});
    EXPECT_GT(rounds.size(), 4U);
}

TEST(TakeTurns, RunsAreHandedOverInTheOrderOfTheVariantsWithWhenTheyHadTheirTurns) {
    const auto outcome = make({{}, {}, {}}, {3, 1, 2}, 5);
    ASSERT_EQ(outcome.runs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome.runs[i].variant, i);
        EXPECT_EQ(outcome.runs[i].run.id, std::to_string(i));
        EXPECT_GT(outcome.runs[i].started, 0);
        EXPECT_GE(outcome.runs[i].used_s, 0);
    }
    const auto* order = outcome.runs[0].run.find_table("order");
    ASSERT_NE(order, nullptr);
    EXPECT_THAT(*order->find<std::int64_t>("round"), ::testing::ElementsAre(1, 2, 3));
    EXPECT_THAT(*order->find<std::int64_t>("of"), ::testing::ElementsAre(3, 2, 1));
    EXPECT_EQ(order->find<std::int64_t>("place")->at(2), 1);
}

// A signal: one that has nothing to end with throws, those who have something end with it.
TEST(TakeTurns, WhereOneIsStoppedTheOthersHaveTheirTurnsToEnd) {
    class Stopped final : public Work {
      public:
        explicit Stopped(bool has_some) : has_some_(has_some) {}
        bool repeat() override {
            if (!has_some_) throw base::Interrupted("stopped", SIGTERM);
            return false;
        }
        results::Run finish() override { return {}; }

      private:
        bool has_some_;
    };
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        std::vector<std::size_t> taken;
        const auto made = [&] {
            take_turns({{}, {}, {}}, seed,
                       {.begin = [](std::size_t i) { return std::make_unique<Stopped>(i != 1); },
                        .finished = [](std::size_t, const results::Run&) {},
                        .take = [&](FinishedRun&& run) { taken.push_back(run.variant); }});
        };
        EXPECT_THROW(made(), base::Interrupted);
        EXPECT_THAT(taken, ::testing::ElementsAre(0, 2)) << seed;
    }
}

// A run's table has the turns of its repetitions, and none of one that a signal cut.
TEST(TakeTurns, ATurnWhoseRepetitionWasCutIsNotInTheTable) {
    class Cut final : public Work {
      public:
        bool repeat() override { return ++made_ < 3; }
        bool was_whole() const override { return made_ < 3; }
        results::Run finish() override { return {}; }

      private:
        int made_ = 0;
    };
    std::vector<results::Run> runs;
    take_turns({{}, {}}, 1,
               {.begin = [](std::size_t) { return std::make_unique<Cut>(); },
                .finished = [](std::size_t, const results::Run&) {},
                .take = [&](FinishedRun&& finished) { runs.push_back(std::move(finished.run)); }});
    ASSERT_EQ(runs.size(), 2U);
    for (const auto& run : runs)
        EXPECT_THAT(*run.find_table("order")->find<std::int64_t>("round"), ::testing::ElementsAre(1, 2));
}

// Repetitions that are whole runs: each is a variant that begins in its round.
TEST(TakeTurns, AVariantBeginsInItsRound) {
    const std::vector<Variant> variants{{{}, 0}, {{}, 0}, {{}, 1}, {{}, 1}};
    const auto names = repeats(make(variants, {1, 1, 1, 1}, 3));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.begin() + 2), (std::set<std::string>{"0", "1"}));
    EXPECT_EQ(std::set<std::string>(names.begin() + 2, names.end()), (std::set<std::string>{"2", "3"}));
}

TEST(TakeTurns, WorksEndInTheReverseOrderOfTheirBeginnings) {
    const auto outcome = make({{}, {}, {}}, {1, 2, 1}, 2);
    std::vector<std::string> begun, ended;
    for (const auto& line : outcome.log) {
        if (line.starts_with("begin ")) begun.push_back(line.substr(6));
        if (line.starts_with("end ")) ended.push_back(line.substr(4));
    }
    std::reverse(ended.begin(), ended.end());
    EXPECT_EQ(begun, ended);
    EXPECT_TRUE(outcome.log.back().starts_with("end "));
}

}  // namespace
}  // namespace ranklab::app
