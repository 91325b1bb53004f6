// The options of `ranklab io`: what they settle to, and refuse.
#include "experiments/storage/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiments/storage/storage.hpp"
#include "results/vocabulary/settings.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

options::Schema schema() {
    options::Schema schema;
    Storage().describe(schema);
    schema.append(vocabulary::common_settings());
    return schema;
}

options::Options parse(Words words) {
    words.insert(words.begin(), "--strategy=binary");
    return options::Options::parse(schema(), words);
}

std::string refusal(const Words& words) {
    return tests::thrown_sentence<base::OptionError>([&] {
        auto options = parse(words);
        settle_storage(options, 2);
    });
}

TEST(StorageOptions, AreAllInTheVocabulary) {
    const auto rows = schema();
    for (const auto& option : rows.all())
        EXPECT_NE(vocabulary::find_setting(option.name), nullptr) << option.name;
}

TEST(StorageOptions, AreSettledOnce) {
    auto options = parse({"-i", "3", "--strategy=mpi-send"});
    const auto settled = settle_storage(options, 2);
    EXPECT_EQ(settled.ranks, 2);
    EXPECT_EQ(options.text("ranks"), "2");
    EXPECT_EQ(options.text("warmup"), "0");
    EXPECT_EQ(options.text("ceilings"), "on") << "there are several repetitions";
    EXPECT_TRUE(settled.ceilings);
    EXPECT_TRUE(settled.verify);
}

TEST(StorageOptions, SayTheRanksThatTakePart) {
    auto serial = parse({"--ranks", "1,2"});
    EXPECT_EQ(settle_storage(serial, 2).ranks, 2) << "of those that may read";
    EXPECT_EQ(serial.text("ranks"), "1");
    auto open = parse({});
    settle_storage(open, 2);
    EXPECT_EQ(open.text("ranks"), "1");
}

TEST(StorageOptions, TakeAllAmongOtherStrategies) {
    EXPECT_EQ(chosen_strategies(parse({"--strategy=binary,all"})).size(), io::strategies().size());
    EXPECT_THAT(refusal({"--strategy=zz,all"}), StartsWith("there is no --strategy 'zz'; give all, text-"));
}

TEST(StorageOptions, RefuseWhatExcludesEachOther) {
    for (const auto& words : std::vector<Words>{{"--write-only", "--read-only"},
                                                {"--write-only", "--check-write"},
                                                {"--write-only", "--check-read"},
                                                {"--write-only", "--cold"},
                                                {"--write-only", "--reorder"},
                                                {"--no-verify", "--check-write"},
                                                {"--no-verify", "--check-read"},
                                                {"--read-only", "--check-write"}}) {
        EXPECT_THAT(refusal(words), HasSubstr(words[0]));
        EXPECT_THAT(refusal(words), HasSubstr(words[1]));
    }
    EXPECT_THAT(refusal({"--directory", ""}), HasSubstr("--directory"));
    EXPECT_THAT(refusal({"--chunk", "200"}), HasSubstr("--size 100"));
    EXPECT_THAT(refusal({"--ranks", "3"}), AllOf(HasSubstr("--ranks"), HasSubstr("1 to 2")));
}

}  // namespace
}  // namespace ranklab::experiments
