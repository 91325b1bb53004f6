#include "io/cache_label.hpp"
#include "base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ranklab::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = base::FileSystemKind;

constexpr std::uint64_t kMiB = 1 << 20;

const base::FileSystem kExt4{"ext4", Kind::disk};
const base::FileSystem kTmpfs{"tmpfs", Kind::memory};
const base::FileSystem kNfs{"nfs", Kind::network};
const base::FileSystem kZfs{"zfs", Kind::own_cache};
const base::FileSystem kForeign{"type 0x1234", Kind::other};

// Evidence of reading 1000 MiB, all of the files.
CacheEvidence evidence(const base::FileSystem& where, std::optional<std::uint64_t> resident_mib,
                       std::optional<std::uint64_t> delivered_mib) {
    CacheEvidence e{where, 1000 * kMiB, std::nullopt, std::nullopt};
    if (resident_mib) e.before = Residency{1000 * kMiB, *resident_mib * kMiB};
    if (delivered_mib) e.delivered = *delivered_mib * kMiB;
    return e;
}

std::string text(const CacheEvidence& e) {
    return label_of(e).text;
}

TEST(CacheLabel, WarmIsWhatWasResident) {
    EXPECT_EQ(text(evidence(kExt4, 1000, 0)), "warm");
    EXPECT_EQ(text(evidence(kExt4, 990, 10)), "warm");
    EXPECT_EQ(text(evidence(kExt4, 1000, std::nullopt)), "warm");
    EXPECT_EQ(text(evidence(kNfs, 1000, 0)), "warm");
}

TEST(CacheLabel, ColdNeedsAnEmptyCacheAndTheBlockLayersWord) {
    EXPECT_EQ(text(evidence(kExt4, 0, 1000)), "cold");
    EXPECT_EQ(text(evidence(kExt4, 10, 990)), "cold");
    EXPECT_EQ(text(evidence(kForeign, 0, 1000)), "cold");
    EXPECT_EQ(text(evidence(kExt4, 0, 0)), "unknown");
    EXPECT_EQ(text(evidence(kExt4, 0, 500)), "unknown");
    EXPECT_EQ(text(evidence(kExt4, 0, std::nullopt)), "unknown");
    EXPECT_EQ(label_of(evidence(kExt4, 0, 1000)).state, CacheState::cold);
}

TEST(CacheLabel, MixedCarriesTheMeasuredShare) {
    EXPECT_EQ(text(evidence(kExt4, 370, 630)), "mixed 37 %");
    EXPECT_EQ(text(evidence(kExt4, 370, std::nullopt)), "mixed 37 %");
    EXPECT_EQ(text(evidence(kExt4, 11, 1000)), "mixed 1 %");
    EXPECT_EQ(text(evidence(kExt4, 989, 0)), "mixed 99 %");
}

TEST(CacheLabel, NothingIsGuessed) {
    EXPECT_EQ(text(evidence(kExt4, std::nullopt, 1000)), "unknown");
    EXPECT_EQ(text(evidence(kExt4, std::nullopt, 0)), "unknown");
    EXPECT_EQ(text(evidence(kExt4, 1000, 600)), "unknown");  // the two contradict each other
    EXPECT_EQ(text(CacheEvidence{}), "unknown");
    EXPECT_EQ(label_of(CacheEvidence{}).why, "nothing was read");
    CacheEvidence no_files{kExt4, kMiB, Residency{}, kMiB};
    EXPECT_EQ(text(no_files), "unknown");
}

TEST(CacheLabel, SmallReadsMayBeAccompaniedByThePagesOfTheProgram) {
    CacheEvidence small{kExt4, 80000, Residency{80000, 80000}, 500000};
    EXPECT_EQ(text(small), "warm");
    small.delivered = 2 * kMiB;
    EXPECT_EQ(text(small), "unknown");
}

TEST(CacheLabel, FilesInMemoryAreNeverCold) {
    for (const auto& e : {evidence(kTmpfs, 0, 1000), evidence(kTmpfs, 1000, 0),
                          evidence(kTmpfs, std::nullopt, 0)}) {
        const auto label = label_of(e);
        EXPECT_EQ(label.text, "memory (tmpfs)");
        EXPECT_THAT(label.why, HasSubstr("never cold"));
    }
}

TEST(CacheLabel, AServersCacheIsNotSeen) {
    const auto counted = label_of(evidence(kNfs, 0, 1000));
    EXPECT_EQ(counted.text, "cold");
    EXPECT_THAT(counted.why, HasSubstr("nfs"));
    const auto not_counted = label_of(evidence(kNfs, 0, 0));
    EXPECT_EQ(not_counted.text, "unknown");
    EXPECT_THAT(not_counted.why, HasSubstr("0 B of 1000.0 MiB"));
}

TEST(CacheLabel, ACacheOfItsOwnHidesWhatIsCold) {
    EXPECT_EQ(text(evidence(kZfs, 0, 1000)), "unknown");
    EXPECT_THAT(label_of(evidence(kZfs, 0, 1000)).why, HasSubstr("zfs"));
}

TEST(CacheLabel, TheSentenceHasTheNumbers) {
    EXPECT_THAT(
        label_of(evidence(kExt4, 370, 640)).why,
        AllOf(HasSubstr("37.0 % of 1000.0 MiB"), HasSubstr("640.0 MiB"), HasSubstr("ext4")));
    EXPECT_THAT(label_of(evidence(kExt4, std::nullopt, std::nullopt)).why, HasSubstr("unknown"));
}

TEST(CacheLabel, MergingAddsAndKeepsTheDoubt) {
    const auto sum = merged(evidence(kExt4, 0, 1000), evidence(kExt4, 1000, 0));
    EXPECT_EQ(sum.requested, 2000 * kMiB);
    EXPECT_EQ(text(sum), "mixed 50 %");
    EXPECT_EQ(text(merged(evidence(kExt4, 0, 1000), evidence(kExt4, 0, std::nullopt))), "unknown");
    EXPECT_EQ(text(merged(evidence(kExt4, 1000, 0), evidence(kExt4, std::nullopt, 0))), "unknown");
    EXPECT_EQ(text(merged(evidence(kExt4, 0, 1000), evidence(kTmpfs, 0, 1000))), "memory (tmpfs)");
    EXPECT_EQ(text(merged(evidence(kTmpfs, 0, 1000), evidence(kExt4, 0, 1000))), "memory (tmpfs)");
    EXPECT_EQ(text(merged(evidence(kZfs, 0, 1000), evidence(kNfs, 0, 1000))), "unknown");
}

TEST(CacheLabel, WhoReadNothingChangesNothing) {
    const auto cold = evidence(kExt4, 0, 1000);
    EXPECT_EQ(text(merged(cold, CacheEvidence{})), "cold");
    EXPECT_EQ(text(merged(CacheEvidence{}, cold)), "cold");
    EXPECT_EQ(merged(CacheEvidence{}, cold).file_system.name, "ext4");
}

}  // namespace
}  // namespace ranklab::io
