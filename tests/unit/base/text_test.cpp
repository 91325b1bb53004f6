#include "base/text.hpp"

#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ranklab::base {
namespace {

using Words = std::vector<std::string>;

// The only word that did_you_mean() offers.
std::optional<std::string> nearest(const char* word, const Words& names) {
    const std::string question = did_you_mean(word, names);
    if (question.empty()) return std::nullopt;
    return question.substr(std::string_view("did you mean ").size(), question.find('?') - 13);
}

TEST(Nearest, FindsTheSlipOfTheFingers) {
    const Words names{"batch-size", "steps", "epochs", "sync"};
    EXPECT_EQ(nearest("step", names), "steps");               // a letter too few
    EXPECT_EQ(nearest("batch_size", names), "batch-size");    // another letter
    EXPECT_EQ(nearest("epcohs", names), "epochs");            // two swapped
    EXPECT_EQ(nearest("modle", {"model", "mode"}), "model");  // two swapped are one slip
    EXPECT_EQ(nearest("sync", names), "sync");
    EXPECT_EQ(nearest("STEPS", names), "steps");  // capitals are the same letters
    EXPECT_EQ(nearest("omp_num_thread", {"steps", "OMP_NUM_THREADS"}), "OMP_NUM_THREADS");
}

TEST(Nearest, LeavesWhatIsFarAway) {
    EXPECT_EQ(nearest("bandwidth", {"steps", "sync"}), std::nullopt);
    EXPECT_EQ(nearest("steps", {}), std::nullopt);
    EXPECT_EQ(nearest("st", {"lr"}), std::nullopt);
    EXPECT_EQ(nearest("", {"lr"}), std::nullopt);
    EXPECT_EQ(nearest("flt", {"flat"}), "flat");
    // A third of the length may differ, and two letters of four.
    EXPECT_EQ(nearest("abcdefghijkl", {"abcdefghXXXX"}), "abcdefghXXXX");
    EXPECT_EQ(nearest("abcdefghijkl", {"abcdefgXXXXX"}), std::nullopt);
    EXPECT_EQ(nearest("abcd", {"abXX"}), "abXX");
    EXPECT_EQ(nearest("abcd", {"aXXX"}), std::nullopt);
}

TEST(Nearest, AShortCandidateIsNoSlipOfALongerWord) {
    EXPECT_EQ(nearest("gpus", {"ops"}), std::nullopt);
    EXPECT_EQ(nearest("opss", {"ops"}), "ops");
}

TEST(Nearest, CapitalLettersAreNoSlips) {
    EXPECT_EQ(nearest("DDP", {"dp", "single", "ddp"}), "ddp");
    EXPECT_EQ(nearest("ddp1", {"single", "dp", "ddp"}), "ddp");
    EXPECT_EQ(nearest("mibps", {"write_MiBps", "MiBps"}), "MiBps");
}

TEST(DidYouMean, NamesTheNearestAlone) {
    EXPECT_EQ(did_you_mean("step", {"steps", "step-limit"}, "--"), "did you mean --steps?");
    EXPECT_EQ(or_did_you_mean("flt", {"flat", "none"}), " (did you mean flat?)");
    EXPECT_EQ(did_you_mean("flt", {}), "");
    EXPECT_EQ(or_did_you_mean("flt", {}), "");
}

TEST(DidYouMean, ListsTheFewThatHaveTheWordAsAPart) {
    const Words names{"binary", "hdf5-serial", "hdf5-parallel-independent", "mpi-send"};
    EXPECT_EQ(did_you_mean("HDF5", names),
              "did you mean hdf5-serial or hdf5-parallel-independent?");
    EXPECT_EQ(did_you_mean("send", names, "--"), "did you mean --mpi-send?");
    EXPECT_EQ(did_you_mean("time", {"copy_time", "time.limit", "idle time"}),
              "did you mean copy_time, time.limit or idle time?");
    EXPECT_EQ(did_you_mean("erial", names), "") << "the middle of a part";
    EXPECT_EQ(did_you_mean("bi", names), "") << "two letters begin too much";
    EXPECT_EQ(
        did_you_mean("abcd", {"abcd-efgh", "abcd-ijkl", "abcd-mnop", "abcd-qrst", "abcd-uvwx"}), "")
        << "too many to be a hint";
}

TEST(DidYouMean, ShowsNoLettersThatSteerATerminal) {
    EXPECT_EQ(did_you_mean("colour", {"colour\033"}), "did you mean colour??");
}

TEST(Nearest, TakesTheFirstOfEquallyNear) {
    EXPECT_EQ(nearest("cat", {"bat", "rat"}), "bat");
}

TEST(Split, KeepsEmptyParts) {
    EXPECT_EQ(split("a,b,c", ','), (Words{"a", "b", "c"}));
    EXPECT_EQ(split("", ','), Words{""});
    EXPECT_EQ(split(",a,,b,", ','), (Words{"", "a", "", "b", ""}));
    EXPECT_EQ(split("no separator", ','), Words{"no separator"});
}

TEST(Split, IsUndoneByJoin) {
    for (const std::string text : {"", "a", ",", "a,b", ",,x,"})
        EXPECT_EQ(join(split(text, ','), ","), text);
    EXPECT_EQ(join({}, ","), "");
}

TEST(Trim, TakesBlanksFromBothEnds) {
    EXPECT_EQ(trim(" \t a b \n"), "a b");
    EXPECT_EQ(trim(" \t\n"), "");
    EXPECT_EQ(trim("\xC3\xA4 "), "\xC3\xA4");  // bytes above 127 are no blanks
}

TEST(ShellQuote, LeavesPlainWords) {
    EXPECT_EQ(shell_quote({"ranklab", "--output=r.h5", "a/b_c-d"}),
              "ranklab --output=r.h5 a/b_c-d");
}

// The shell is the judge: it must see the very same arguments.
TEST(ShellQuote, IsWhatTheShellTakesApart) {
    const Words arguments{"plain",  "two words", "",  "it's",        "a\"b",    "$HOME",
                          "`date`", "*",         "~", "back\\slash", "a;b&c|d", "#x"};
    const std::string command = "printf '%s\\n' " + shell_quote(arguments);
    FILE* pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string seen;
    std::array<char, 256> buffer{};
    while (::fgets(buffer.data(), buffer.size(), pipe) != nullptr) seen += buffer.data();
    EXPECT_EQ(::pclose(pipe), 0);
    EXPECT_EQ(seen, join(arguments, "\n") + "\n");
}

TEST(ShellPath, IsTakenForNoOptionAndIsOneLine) {
    EXPECT_EQ(shell_path("results/r.h5"), "results/r.h5");
    EXPECT_EQ(shell_path("-dash.h5"), "./-dash.h5");
    EXPECT_EQ(shell_path("my runs.h5"), "'my runs.h5'");
}

TEST(CompactRanges, WritesRunsAsTheKernelDoes) {
    EXPECT_EQ(compact_ranges({}), "");
    EXPECT_EQ(compact_ranges({5}), "5");
    EXPECT_EQ(compact_ranges({0, 1, 2, 3, 8}), "0-3,8");
    EXPECT_EQ(compact_ranges({1, 3, 5}), "1,3,5");
    EXPECT_EQ(compact_ranges({0, 1, 4, 5, 6, 9}), "0-1,4-6,9");
}

TEST(HumanBytes, ScalesBy1024) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(1024), "1.0 KiB");
    EXPECT_EQ(human_bytes(1.5 * 1024 * 1024), "1.5 MiB");
    EXPECT_EQ(human_bytes(1024.0 * 1024 * 1024), "1.0 GiB");
    EXPECT_EQ(human_bytes(5e18), "4440.9 PiB");  // there is no unit above
}

// The cases of Unicode 15, tables 3-8 to 3-11, as Python's bytes.decode("utf-8", "replace") makes
// them but for one U+FFFD a byte.
TEST(OneLine, KeepsWhatIsValidAndReplacesEachOtherByte) {
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(one_line("a\tb\n\v", "\t\n"), "a\tb\n ");
    EXPECT_EQ(one_line("s\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
              "s\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
    EXPECT_EQ(one_line("\xFF"
                       "a\x80"),
              mark + "a" + mark);
    EXPECT_EQ(one_line("\xC3"), mark);
    EXPECT_EQ(one_line("\xC0\xAF"), mark + mark);                        // overlong
    EXPECT_EQ(one_line("\xE0\x80\xAF"), mark + mark + mark);             // overlong
    EXPECT_EQ(one_line("\xED\xA0\x80"), mark + mark + mark);             // a surrogate
    EXPECT_EQ(one_line("\xF4\x90\x80\x80"), mark + mark + mark + mark);  // above U+10FFFF
    EXPECT_EQ(one_line("\xE2\x82x"), mark + mark + "x");
}

TEST(HumanDuration, ShowsTwoUnitsAtMost) {
    EXPECT_EQ(human_duration(0), "0 s");
    EXPECT_EQ(human_duration(59), "59 s");
    EXPECT_EQ(human_duration(60), "1 min 00 s");
    EXPECT_EQ(human_duration(252), "4 min 12 s");
    EXPECT_EQ(human_duration(3600), "1 h 00 min");
    EXPECT_EQ(human_duration(90000), "25 h 00 min");
}

// date -u -d @1795256100 +%FT%TZ
TEST(Utc, IsWhatDateSays) {
    EXPECT_EQ(utc_iso(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(utc_iso(1795256100), "2026-11-21T10:15:00Z");
    EXPECT_EQ(utc_compact(1795256100), "20261121T101500Z");
    EXPECT_EQ(utc_iso(1709164800), "2024-02-29T00:00:00Z");  // a leap day
}

}  // namespace
}  // namespace ranklab::base
