// Options of one letter, and sizes in bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/options.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::options {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Settings {
    std::int64_t files = 15;
    std::string directory = "output/";
    bool keep = false, fsync = false;
    std::uint64_t alignment = 1;
    std::optional<std::uint64_t> limit;
};

Schema schema() {
    Schema schema;
    schema.section("All")
        .integer("files", {&Settings::files, 'n'}, 0, "records")
        .text("directory", {&Settings::directory, 'o'}, "DIR", "where to")
        .flag("keep", {&Settings::keep, 'k'}, "leaves the files")
        .flag("fsync", {&Settings::fsync, 'e'}, "waits for the device")
        .bytes("alignment", &Settings::alignment, 1, "objects begin at its multiples")
        .bytes("limit", &Settings::limit, 0, "the most");
    return schema;
}

Settings parse(const Words& words) {
    return Options::parse(schema(), words).fields<Settings>();
}
std::string refusal(const Words& words) {
    return tests::thrown_sentence<base::OptionError>([&] { parse(words); });
}

TEST(ShortNames, MeanTheirOptions) {
    const auto options = parse({"-n", "7", "-k", "-o", "a b"});
    EXPECT_EQ(options.files, 7);
    EXPECT_EQ(options.directory, "a b");
    EXPECT_TRUE(options.keep);
    EXPECT_FALSE(options.fsync);
    EXPECT_EQ(parse({"-n7"}).files, 7);
    EXPECT_EQ(parse({"--files=8"}).files, 8);
}

TEST(ShortNames, OfFlagsStandTogether) {
    const auto options = parse({"-ken", "3"});
    EXPECT_TRUE(options.keep);
    EXPECT_TRUE(options.fsync);
    EXPECT_EQ(options.files, 3);
}

TEST(ShortNames, AreNamedByTheirLongOnesInSentences) {
    EXPECT_THAT(refusal({"-n", "seven"}), AllOf(HasSubstr("--files"), HasSubstr("'seven'")));
    EXPECT_THAT(refusal({"-n", "-1"}), AllOf(HasSubstr("--files"), HasSubstr("'-1'")));
    EXPECT_THAT(refusal({"-n"}), HasSubstr("files"));
}

TEST(ShortNames, AndTheirLongOnesAreOneOption) {
    EXPECT_EQ(parse({"-n", "1", "--files", "2"}).files, 2);
    EXPECT_EQ(parse({"--files", "2", "-n", "1"}).files, 1);
    EXPECT_EQ(parse({"--files=2", "-n1"}).files, 1);
}

TEST(ShortNames, OthersAreUnknown) {
    EXPECT_THAT(refusal({"-x"}), AllOf(HasSubstr("unknown option -x;"), HasSubstr("--help")));
    EXPECT_THAT(refusal({"--k"}), HasSubstr("unknown option --k;"));
}

TEST(ShortNames, AreShownInHelp) {
    EXPECT_THAT(schema().help(), AllOf(HasSubstr("-n [ --files ] N"), HasSubstr("-k [ --keep ]"),
                                       HasSubstr("--alignment SIZE"), HasSubstr("(default: 15)")));
}

TEST(ShortNames, AreNoKeysOfConfigFiles) {
    const auto options = Options::parse(schema(), {})
                             .with_config("long.ini", "files = 9\nalignment = 1MiB\n")
                             .fields<Settings>();
    EXPECT_EQ(options.files, 9);
    EXPECT_EQ(options.alignment, 1U << 20U);
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>(
                    [&] { Options::parse(schema(), {}).with_config("short.ini", "n = 9\n"); }),
                HasSubstr("unknown key n"));
}

TEST(ShortNames, AreGivenOnce) {
    EXPECT_THROW(schema().flag("nothing", {&Settings::keep, 'n'}, ""), base::Error);
}

TEST(Sizes, HaveTheInterfacesUnits) {
    const std::pair<const char*, std::uint64_t> sizes[] = {
        {"1", 1},
        {"4096", 4096},
        {"64K", 65536},
        {"3M", 3U << 20U},
        {"5G", 5ULL << 30U},
        {"2T", 2ULL << 40U},
        {"64k", 65536},
        {"8g", 8ULL << 30U},
        {"1KB", 1024},
        {"1KiB", 1024},
        {"25MiB", 25U << 20U},
        {"1GiB", 1U << 30U},
        {"1TiB", 1ULL << 40U},
        {"7kB", 7000},
        {"10MB", 10000000},
        {"1GB", 1000000000},
        {"2TB", 2000000000000},
        {"18446744073709551615", 18446744073709551615U},
    };
    for (const auto& [text, bytes] : sizes)
        EXPECT_EQ(parse({std::string("--alignment=") + text}).alignment, bytes) << text;
    EXPECT_EQ(parse({}).alignment, 1U);
    EXPECT_EQ(parse({"--limit=0"}).limit, 0U);
}

TEST(Sizes, OfOtherFormsAreRefused) {
    for (const char* text :
         {"K", "1mb", "1 K", "1.5M", "-1", "+1", "1e6", "0x10", "1Ki", "1KiBB", "1B",
          "18446744073709551616", "18014398509481984K", "nan", "64 ", " 64"}) {
        EXPECT_THAT(refusal({std::string("--alignment=") + text}),
                    AllOf(HasSubstr("--alignment"), HasSubstr("64K")))
            << text;
    }
    EXPECT_THAT(refusal({"--alignment="}), HasSubstr("--alignment"));
    EXPECT_THAT(refusal({"--alignment=0"}), AllOf(HasSubstr("at least 1"), HasSubstr("'0'")));
}

TEST(Sizes, HaveOneText) {
    for (const auto& [written, shown] :
         {std::pair{"1", "1"}, std::pair{"1000", "1000"}, std::pair{"65536", "64K"},
          std::pair{"64KiB", "64K"}, std::pair{"1025K", "1025K"}, std::pair{"2T", "2T"}}) {
        const auto given = Options::parse(schema(), {std::string("--limit=") + written});
        EXPECT_EQ(given.effective(given.fields<Settings>()).back().value, shown) << written;
    }
}

}  // namespace
}  // namespace ranklab::options
