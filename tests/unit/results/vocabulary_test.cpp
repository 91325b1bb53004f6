// The vocabulary has each name once, and every name that a room uses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/io_times.hpp"
#include "base/phase.hpp"
#include "results/run.hpp"
#include "thrown_sentence.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/names.hpp"
#include "vocabulary/settings.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab {
namespace {

namespace words = vocabulary;
using tests::thrown_sentence;

template <class Rows>
void expect_each_once(const Rows& rows) {
    std::set<std::string> met;
    for (const auto& row : rows) EXPECT_TRUE(met.insert(std::string(row.name)).second) << row.name;
}

std::vector<std::string> names(const std::vector<const words::Quantity*>& quantities) {
    std::vector<std::string> names;
    for (const auto* one : quantities) names.emplace_back(one->name);
    return names;
}

TEST(Vocabulary, RefusesAMisspeltWordOfItsTables) {
    const std::array<std::string_view, 2> types{"", ":whole"};
    EXPECT_EQ(words::known_place(":whole", types), 1U);
    EXPECT_THROW(words::known_place(":wohle", types), base::Error);
}

TEST(Vocabulary, HasEachNameOnce) {
    expect_each_once(words::quantities());
    expect_each_once(words::facts());
    expect_each_once(words::tables());
    for (const auto& table : words::tables()) expect_each_once(table.columns);
}

TEST(Vocabulary, HasTheNamesThatRoomsRead) {
    for (const auto name : {words::kStepTime, words::kJobTime, words::kEpochTime, words::kReadTime,
                            words::kThroughput, words::kWriteRate, words::kReadRate,
                            words::kFileRate, words::kPeakMemory})
        EXPECT_NO_THROW(words::quantity(name)) << name;
    EXPECT_NE(
        thrown_sentence<base::Error>([] { words::quantity("step_tme_s"); }).find("step_tme_s"),
        std::string::npos);
}

TEST(Vocabulary, HasTheSettingsAndFactsThatRoomsRead) {
    namespace setting = words::setting;
    namespace fact = words::fact;
    for (const auto name : {setting::kAccumulate, setting::kAverage,         setting::kBackend,
                            setting::kBlocking,   setting::kBatchSize,       setting::kBucketCap,
                            setting::kCheck,      setting::kCompress,        setting::kData,
                            setting::kDatatype,   setting::kDevice,          setting::kDirectory,
                            setting::kFault,      setting::kFiles,           setting::kFromModel,
                            setting::kFsync,      setting::kGlobalBatchSize, setting::kMemory,
                            setting::kMode,       setting::kModel,           setting::kMpiProgress,
                            setting::kOp,         setting::kOutput,          setting::kPrecision,
                            setting::kRanks,      setting::kReplicas,        setting::kSize,
                            setting::kSteps,      setting::kStrategy,        setting::kSync,
                            setting::kThreads,    setting::kTransfer,        setting::kUnalign,
                            setting::kWarmup,     setting::kWidth,           setting::kWorkers})
        EXPECT_NE(words::find_setting(name), nullptr) << name;
    for (const auto& [section, key] : {fact::kBuildType,
                                       fact::kCpuQuota,
                                       fact::kGovernor,
                                       fact::kLogicalCpus,
                                       fact::kLoad,
                                       fact::kProcess,
                                       fact::kQuietHosts,
                                       fact::kOthersCores,
                                       fact::kOthersHost,
                                       fact::kConverged,
                                       fact::kResumedFromStep,
                                       fact::kIntraOpThreads,
                                       fact::kLimit,
                                       fact::kMemoryFixed,
                                       fact::kMemoryPerSample,
                                       fact::kTrainSamples,
                                       fact::kStepStraggler,
                                       fact::kCallStraggler,
                                       fact::kCallStragglerText,
                                       fact::kHeadline,
                                       fact::kPolicy,
                                       fact::kCache,
                                       fact::kFileDirectory,
                                       fact::kFileSystem,
                                       fact::kParticipants,
                                       fact::kWorkerProcesses,
                                       fact::kIsBaseline,
                                       fact::kBytesPerValue,
                                       fact::kLadderBaseline,
                                       fact::kBackendMemory,
                                       fact::kBaselineSync,
                                       fact::kSingleDevice,
                                       fact::kSumsGradients,
                                       fact::kUsesSync,
                                       fact::kNoOverlap}) {
        const auto name = fmt::format("{}.{}", section, key);
        EXPECT_NE(words::find_fact(name), nullptr) << name;
    }
}

// Names end in their unit, for readers of a file.
TEST(Vocabulary, HasUnitsInNames) {
    for (const auto& one : words::quantities()) {
        if (one.unit == "s") {
            EXPECT_TRUE(one.name.ends_with("_s")) << one.name;
        }
        if (one.unit == "samples/s") {
            EXPECT_TRUE(one.name.ends_with("_samples_per_s")) << one.name;
        }
        if (one.unit == "MiB/s") {
            EXPECT_TRUE(one.name.ends_with("_MiBps")) << one.name;
        }
        if (one.unit == "B") {
            EXPECT_NE(one.name.find("bytes"), std::string::npos) << one.name;
        }
        EXPECT_TRUE(one.definition.ends_with('.')) << one.name;
        EXPECT_TRUE(one.kind <= words::Kind::count && one.better <= words::Better::neither)
            << one.name;
        EXPECT_TRUE(one.part_of.empty() || one.part_of == words::kStepTime ||
                    one.part_of == words::kJobTime)
            << one.part_of;
    }
}

TEST(Vocabulary, HasEveryPhaseThatIsTimed) {
    const auto& step = words::quantity(words::kStepTime);
    for (const auto phase : base::kPhaseNames)
        EXPECT_NO_THROW(words::part_of(step, phase)) << phase;
    EXPECT_EQ(words::parts_of(step).size(), base::kPhaseCount);
    const auto& job = words::quantity(words::kJobTime);
    for (const auto phase : base::kIoPhaseNames)
        if (phase != "read" && phase != "parse") {
            EXPECT_NO_THROW(words::part_of(job, phase)) << phase;
        }
    EXPECT_EQ(names(words::wholes()), (std::vector<std::string>{"step_time_s", "job_time_s"}));
    EXPECT_EQ(words::part_of(step, "sync").name, "sync_exposed_time_s");
    EXPECT_NE(thrown_sentence<base::Error>([&] { words::part_of(step, "lunch"); }).find("lunch"),
              std::string::npos);
}

TEST(Vocabulary, ShowsFewMeasurementsUnasked) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(words::shown_at(words::Shown::groups, "train"),
              (Names{"step_time_s", "throughput_samples_per_s", "tokens_per_s", "mfu_percent"}));
    EXPECT_EQ(words::shown_at(words::Shown::compare, "io"),
              (Names{"job_time_s", "write_MiBps", "read_MiBps"}));
    EXPECT_EQ(words::shown_at(words::Shown::summary, "io"),
              (Names{"job_time_s", "write_MiBps", "read_MiBps", "files_per_s"}));
    EXPECT_TRUE(words::shown_at(words::Shown::summary, "data").empty());
}

TEST(Vocabulary, KnowsWhichWayIsBetter) {
    using words::Better;
    using words::Kind;
    EXPECT_EQ(words::better_of("step_time_s", Kind::cost), Better::less);
    EXPECT_EQ(words::better_of("validation_accuracy", Kind::ratio), Better::more);
    EXPECT_EQ(words::better_of("wrong_elements", Kind::count), Better::less);
    // 1 is ideal: neither direction is better.
    EXPECT_EQ(words::better_of("overlap_balance", Kind::ratio), Better::neither);
    // The kind decides for unknown names.
    EXPECT_EQ(words::better_of("latency_us", Kind::cost), Better::less);
    EXPECT_EQ(words::better_of("messages_per_s", Kind::rate), Better::more);
    EXPECT_EQ(words::better_of("odd_ratio", Kind::ratio), Better::neither);
}

TEST(Vocabulary, TakesTheMostExactRowOfAFact) {
    using words::FactRole;
    EXPECT_EQ(words::role_of_fact("host.cpu"), FactRole::surroundings);
    EXPECT_EQ(words::role_of_fact("libraries.mpi"), FactRole::surroundings);
    EXPECT_EQ(words::role_of_fact("training.parameters"), FactRole::work);
    EXPECT_EQ(words::role_of_fact("environment.OMPI_MCA_btl"), FactRole::surroundings);
    EXPECT_EQ(words::role_of_fact("environment.OMPI_MCA_rmaps_base_oversubscribe"),
              FactRole::outcome);
    EXPECT_EQ(words::role_of_fact("environment.CUDA_VISIBLE_DEVICES"), FactRole::noted);
    EXPECT_EQ(words::role_of_fact("moon.phase"), FactRole::noted);
    EXPECT_EQ(words::find_fact("moon.phase"), nullptr);
    EXPECT_TRUE(words::find_fact("environment.OMP_NUM_THREADS")->follows_ranks);
    EXPECT_TRUE(words::find_fact("environment.OMPI_MCA_rmaps_ppr")->follows_ranks);
    EXPECT_FALSE(words::find_fact("environment.OMP_PROC_BIND")->follows_ranks);
}

// A stored value may go on with details, and older programs wrote "NO".
TEST(Facts, ThatAreComparedBeginWithAWordOfTheTable) {
    using words::FactWord;
    for (int i = 1; i <= static_cast<int>(FactWord::device); ++i) {
        const auto word = static_cast<FactWord>(i);
        results::Run run;
        run.add_fact(words::fact::kCache, word, "(why)");
        EXPECT_TRUE(run.says(words::fact::kCache, word)) << words::text_of(word);
        EXPECT_FALSE(run.says(words::fact::kCache, FactWord::none));
    }
    EXPECT_EQ(words::word_in("NO (3.1 % after 40 steps, 2 % wanted)"), FactWord::no);
    EXPECT_EQ(words::word_in("mixed 37 %"), FactWord::mixed);
    for (const char* other : {"", "nothing", "coldish", "ext4"})
        EXPECT_EQ(words::word_in(other), FactWord::none) << other;
}

TEST(Rows, MakeATableByItsSchema) {
    results::Rows rows("chunks");
    rows.add({std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}});
    EXPECT_EQ(rows.size(), 1U);
    const results::Table table = std::move(rows).table();
    EXPECT_EQ(table.name, "chunks");
    ASSERT_NE(table.find<std::int64_t>("chunks"), nullptr);
    EXPECT_EQ(*table.find<std::int64_t>("chunks"), std::vector<std::int64_t>{2});
}

TEST(Rows, RefuseWhatTheSchemaDoesNotHave) {
    EXPECT_NE(thrown_sentence<base::Error>([] { results::Rows("chunk"); }).find("chunk"),
              std::string::npos);
    EXPECT_NE(
        thrown_sentence<base::Error>([] { results::Rows("chunks").add({1.0}); }).find("chunks"),
        std::string::npos);
    EXPECT_NE(thrown_sentence<base::Error>([] {
                  results::Rows("mpi_io").add({1.0, std::string("x")});
              }).find("column key"),
              std::string::npos);
}

}  // namespace
}  // namespace ranklab
