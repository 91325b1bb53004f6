// Settled and refused options of `ranklab io`.
#include "experiments/storage/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiments/shared/experiment.hpp"
#include "thrown_sentence.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

options::Schema schema() {
    return io_experiment().options.append(vocabulary::common_settings());
}

StorageCommand settled_of(Words words) {
    words.insert(words.begin(), "--strategy=binary");
    const auto given = options::Options::parse(schema(), words);
    return settle_storage(given, given.fields<vocabulary::CommonSettings>());
}

std::string refusal(const Words& words) {
    return tests::thrown_sentence<base::OptionError>([&] { settled_of(words); });
}

TEST(StorageOptions, AreAllInTheVocabulary) {
    const auto rows = schema();
    for (const auto& option : rows.all())
        EXPECT_NE(vocabulary::find_setting(option.name), nullptr) << option.name;
}

TEST(StorageOptions, AreSettledOnce) {
    const auto settled = settled_of({"-i", "3", "--strategy=mpi-send"}).strategies;
    ASSERT_EQ(settled.size(), 1U);
    EXPECT_EQ(settled[0].warmup(), 0);
    EXPECT_EQ(settled[0].ceilings, "on") << "there are several repetitions";
    EXPECT_EQ(settled[0].directory, "output");
    EXPECT_TRUE(settled[0].measures_ceilings());
    EXPECT_TRUE(settled[0].verify());
}

TEST(StorageOptions, OfSeveralStrategiesAreOneEachWithAFolderOfItsOwn) {
    const auto command = settled_of({"--strategy=hdf5-serial,binary"});
    const auto& settled = command.strategies;
    ASSERT_EQ(settled.size(), 2U);
    EXPECT_EQ(settled[0].strategy, "binary") << "in ladder order";
    EXPECT_EQ(settled[1].directory, "output/hdf5-serial");
    EXPECT_EQ(settled[1].ceilings, "on") << "they are compared";
    results::Run compared;
    compared.config = settings_of(command.settings);
    EXPECT_EQ(compared.setting("strategy"), "hdf5-serial,binary");
    EXPECT_EQ(compared.setting("directory"), "output");
}

TEST(StorageOptions, TakeAllAmongOtherStrategies) {
    EXPECT_EQ(chosen_strategies("binary,all").size(), io::strategies().size());
    EXPECT_THAT(refusal({"--strategy=zz,all"}),
                StartsWith("there is no --strategy 'zz'; give text-loop, text-"));
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
    EXPECT_THAT(refusal({"--ranks", "3"}), AllOf(HasSubstr("--ranks"), HasSubstr("ranklab sweep")));
    EXPECT_THAT(refusal({"--workers", "1,2"}), HasSubstr("ranklab sweep"));
}

}  // namespace
}  // namespace ranklab::experiments
