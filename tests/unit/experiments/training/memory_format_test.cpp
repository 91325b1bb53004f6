// Which memory format a run takes: what settles it, and what the rounds of a trial say.
#include "experiments/training/memory_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::HasSubstr;

vocabulary::TrainingSettings format_settings(const std::vector<std::string>& words) {
    return options::Options::parse(vocabulary::training_settings(), words)
        .fields<vocabulary::TrainingSettings>();
}

TEST(MemoryFormat, IsOpenWhereBothCanBeTried) {
    auto settings = format_settings({});
    const auto choice = settle_format(settings, {});
    EXPECT_TRUE(choice.open);
    EXPECT_EQ(choice.asked, "auto");
    EXPECT_EQ(settings.channels_last, "auto: decided before the warm-up");
}

TEST(MemoryFormat, IsContiguousWhereThereIsNothingToTry) {
    for (const FormatFacts& facts :
         {FormatFacts{.convolves = false}, {.computes = false}, {.cuda_graph = true}, {.breaks = true}}) {
        auto settings = format_settings({});
        const auto choice = settle_format(settings, facts);
        EXPECT_FALSE(choice.open);
        EXPECT_FALSE(choice.channels_last);
        EXPECT_FALSE(choice.why.empty());
        EXPECT_EQ(settings.memory_format, "auto") << "what was asked stays";
        EXPECT_EQ(settings.channels_last, "false");
    }
}

TEST(MemoryFormat, IsTheOneAskedForInEitherSpelling) {
    const std::vector<std::pair<std::vector<std::string>, bool>> spellings{
        {{"--memory-format", "contiguous"}, false},
        {{"--memory-format", "channels-last"}, true},
        {{"--channels-last"}, true}};
    for (const auto& [words, last] : spellings) {
        auto settings = format_settings(words);
        const auto choice = settle_format(settings, {.convolves = false});
        EXPECT_FALSE(choice.open);
        EXPECT_EQ(choice.channels_last, last);
        EXPECT_EQ(settings.channels_last, last ? "true" : "false");
        EXPECT_EQ(settings.memory_format, last ? "channels-last" : "contiguous");
    }
}

TEST(MemoryFormat, RefusesWhatWouldBreak) {
    auto settings = format_settings({"--channels-last"});
    EXPECT_THROW(settle_format(settings, {.breaks = true}), base::OptionError);
}

TEST(MemoryFormat, ChannelsLastHasToBeFasterInEveryRoundAndByAMargin) {
    EXPECT_TRUE(chosen_by({{1.5, 1.0}, {1.4, 1.0}, {1.6, 1.0}}).channels_last);
    EXPECT_FALSE(chosen_by({{1.0, 1.5}, {1.0, 1.4}}).channels_last);
    EXPECT_FALSE(chosen_by({{1.5, 1.0}, {1.4, 1.0}, {0.9, 1.0}}).channels_last) << "one round says else";
    EXPECT_FALSE(chosen_by({{1.04, 1.0}, {1.03, 1.0}, {1.02, 1.0}}).channels_last) << "within noise";
}

// A trial of steps that take so long in either format, and how often each was made.
struct Tried {
    FormatChoice choice;
    std::size_t contiguous = 0, channels_last = 0;
};

Tried tried(double contiguous, double channels_last, double longest = kLongestTrial) {
    Tried all;
    all.choice = try_formats(
        [&](bool last) {
            ++(last ? all.channels_last : all.contiguous);
            return last ? channels_last : contiguous;
        },
        longest);
    return all;
}

TEST(MemoryFormat, IsTriedInFiveRoundsAfterOneThatWarmsUp) {
    const auto all = tried(0.15, 0.1);
    EXPECT_EQ(all.choice.rounds.size(), 5U);
    EXPECT_EQ(all.contiguous, 6U);
    EXPECT_EQ(all.channels_last, 6U);
    EXPECT_TRUE(all.choice.channels_last);
}

TEST(MemoryFormat, OfSlowStepsIsDecidedByFewerRounds) {
    const auto some = tried(1.5, 1.0);
    EXPECT_EQ(some.choice.rounds.size(), 2U);
    EXPECT_EQ(some.contiguous, 3U);
    const auto one = tried(15, 10);
    EXPECT_EQ(one.choice.rounds.size(), 1U) << "the warm-up alone";
    EXPECT_EQ(one.contiguous + one.channels_last, 2U);
    EXPECT_TRUE(one.choice.channels_last);
    EXPECT_THAT(one.choice.why, HasSubstr("1 round)"));
}

TEST(MemoryFormat, OfTheSlowestStepsStaysAsItIs) {
    for (const auto& [step, longest] : {std::pair{40.0, kLongestTrial}, {1.5, 1.0}}) {
        const auto all = tried(step, step / 2, longest);
        EXPECT_EQ(all.contiguous, 1U);
        EXPECT_EQ(all.channels_last, 0U);
        EXPECT_FALSE(all.choice.channels_last);
        EXPECT_TRUE(all.choice.rounds.empty());
        EXPECT_EQ(all.choice.asked, "auto");
        EXPECT_THAT(all.choice.why, HasSubstr("too long"));
    }
}

TEST(MemoryFormat, SaysWhatTheTrialFound) {
    EXPECT_EQ(
        chosen_by({{0.15, 0.1}, {0.15, 0.1}}).why,
        "channels-last is 1.50 x as fast (100 against 150 ms a step of forward and backward, 2 rounds)");
    EXPECT_THAT(chosen_by({{0.1, 0.2}, {0.1, 0.2}}).why, HasSubstr("0.50 x as fast"));
    EXPECT_THAT(chosen_by({{0.1, 0.1}, {0.1, 0.1}}).why, HasSubstr("not surely faster"));
    results::Run run;
    add_format(run, chosen_by({{0.15, 0.1}, {0.15, 0.1}}));
    std::vector<std::string> facts;
    for (const auto& fact : run.context) facts.push_back(fact.section + "." + fact.key + "=" + fact.value);
    EXPECT_THAT(facts,
                ::testing::IsSupersetOf({"memory_format.asked=auto", "memory_format.taken=channels-last",
                                         "memory_format.trial_contiguous_s=0.15",
                                         "memory_format.trial_channels_last_s=0.1"}));
}

}  // namespace
}  // namespace ranklab::experiments
