// Which memory format a run takes: what settles it, and what the rounds of a trial say.
#include "experiments/training/memory_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::HasSubstr;

options::Options options_of(const std::vector<std::string>& words) {
    return options::Options::parse(vocabulary::training_settings(), words);
}

TEST(MemoryFormat, IsOpenWhereBothCanBeTried) {
    auto options = options_of({});
    const auto choice = settle_format(options, {});
    EXPECT_TRUE(choice.open);
    EXPECT_EQ(choice.asked, "auto");
    EXPECT_EQ(options.text("channels-last"), "auto: decided before the warm-up");
}

TEST(MemoryFormat, IsContiguousWhereThereIsNothingToTry) {
    for (const FormatFacts& facts :
         {FormatFacts{.convolves = false}, {.computes = false}, {.cuda_graph = true}, {.breaks = true}}) {
        auto options = options_of({});
        const auto choice = settle_format(options, facts);
        EXPECT_FALSE(choice.open);
        EXPECT_FALSE(choice.channels_last);
        EXPECT_FALSE(choice.why.empty());
        EXPECT_EQ(options.text("memory-format"), "auto") << "what was asked stays";
        EXPECT_EQ(options.text("channels-last"), "false");
    }
}

TEST(MemoryFormat, IsTheOneAskedForInEitherSpelling) {
    const std::vector<std::pair<std::vector<std::string>, bool>> spellings{
        {{"--memory-format", "contiguous"}, false},
        {{"--memory-format", "channels-last"}, true},
        {{"--channels-last"}, true}};
    for (const auto& [words, last] : spellings) {
        auto options = options_of(words);
        const auto choice = settle_format(options, {.convolves = false});
        EXPECT_FALSE(choice.open);
        EXPECT_EQ(choice.channels_last, last);
        EXPECT_EQ(options.flag("channels-last"), last);
        EXPECT_EQ(options.text("memory-format"), last ? "channels-last" : "contiguous");
    }
}

TEST(MemoryFormat, RefusesWhatWouldBreak) {
    auto options = options_of({"--channels-last"});
    EXPECT_THROW(settle_format(options, {.breaks = true}), base::OptionError);
}

TEST(MemoryFormat, ChannelsLastHasToBeFasterInEveryRoundAndByAMargin) {
    EXPECT_TRUE(chosen_by({{1.5, 1.0}, {1.4, 1.0}, {1.6, 1.0}}).channels_last);
    EXPECT_FALSE(chosen_by({{1.0, 1.5}, {1.0, 1.4}}).channels_last);
    EXPECT_FALSE(chosen_by({{1.5, 1.0}, {1.4, 1.0}, {0.9, 1.0}}).channels_last) << "one round says else";
    EXPECT_FALSE(chosen_by({{1.04, 1.0}, {1.03, 1.0}, {1.02, 1.0}}).channels_last) << "within noise";
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
