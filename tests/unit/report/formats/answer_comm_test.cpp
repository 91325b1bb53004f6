#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/formats/formats.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/flat_text.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using results::StoredRun;
using testing::HasSubstr;
using testing::Not;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
    std::istringstream stream(text);
    Lines lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// Of the table: from the preamble to the footer.
Lines table_of(const std::string& text) {
    Lines lines = lines_of(text);
    while (!lines.empty() && !lines.front().starts_with("# Collective test starting"))
        lines.erase(lines.begin());
    const auto end = std::ranges::find_if(
        lines, [](const auto& line) { return line.starts_with("# Collective test concluded"); });
    EXPECT_NE(end, lines.end());
    return {lines.begin(), end};
}

Lines rows_of(const std::string& text) {
    Lines rows = table_of(text);
    std::erase_if(rows, [](const std::string& line) { return line.starts_with('#'); });
    return rows;
}

Lines words_of(const std::string& line) {
    std::istringstream stream(line);
    Lines words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::string line_with(const std::string& text, const std::string& part) {
    for (const auto& line : lines_of(text))
        if (line.find(part) != std::string::npos) return line;
    return "";
}

TEST(CommAnswer, HasNcclTestsColumnsWhereNcclTestsHasThem) {
    const std::string text = answer_text(comm_run());
    const auto rows = rows_of(text);
    ASSERT_EQ(rows.size(), 4U) << text;
    const std::string head = line_with(text, "algbw");
    // What util.cu prints: "%12li  %12li  %8s  %6s  %6s", and twice "  %7s  %6s  %6s  %6g".
    for (const auto& [name, end] : {std::pair{"size", 12},
                                    {"count", 26},
                                    {"type", 36},
                                    {"redop", 44},
                                    {"root", 52},
                                    {"time", 61},
                                    {"algbw", 69},
                                    {"busbw", 77},
                                    {"#wrong", 85}}) {
        EXPECT_EQ(head.find(name) + std::string(name).size(), static_cast<std::size_t>(end)) << name;
        EXPECT_EQ(rows[0][static_cast<std::size_t>(end)], ' ') << name;
        EXPECT_NE(rows[0][static_cast<std::size_t>(end) - 1], ' ') << name;
    }
    EXPECT_EQ(head.find("time", 61), 90U);
    const auto words = words_of(rows[3]);
    EXPECT_EQ(Lines(words.begin(), words.begin() + 13),
              (Lines{"4194304", "1048576", "float", "sum", "-1", "1050.58", "3.99", "3.99", "0", "1155.63",
                     "3.63", "3.63", "0"}));
    EXPECT_THAT(head, HasSubstr("mean      p50      p95      p99   ci_low  ci_high"));
    EXPECT_EQ(words.size(), 25U);
    EXPECT_EQ(words[18], "1103.10") << "the high end of the interval out of place";
}

TEST(CommAnswer, HasNcclTestsFooter) {
    const std::string text = answer_text(comm_run());
    EXPECT_THAT(text, HasSubstr("\n# Out of bounds values : 0 OK\n"));
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, std::regex("\n# Avg bus bandwidth    : ([0-9.e+-]+)\n")));
    EXPECT_GT(std::stod(found[1]), 1);
    for (const auto& line : table_of(text))
        EXPECT_TRUE(line.starts_with('#') || std::regex_search(line, std::regex("^ +[0-9]+ +[0-9]+ ")))
            << line;
}

TEST(CommAnswer, ShowsTheCallsBehindAllOthersWhereAskedTo) {
    StoredRun run = comm_run();
    const auto before = rows_of(answer_text(run));
    run.config.back().value = "true";
    const std::string text = answer_text(run);
    const auto rows = rows_of(text);
    EXPECT_TRUE(rows[0].starts_with(before[0])) << "no column moves";
    EXPECT_THAT(line_with(text, "i_min"), HasSubstr("i_min    i_max    i_p99    i_cv%"));
    EXPECT_EQ(words_of(rows[0]).size(), 33U);
}

TEST(CommAnswer, SaysWhatIsNotThere) {
    const std::string alone = answer_text(comm_run({{.in_place = false, .ranks = 1, .wrong = -1}}));
    const auto words = words_of(rows_of(alone)[0]);
    EXPECT_EQ(words[7], "n/a") << "busbw";
    EXPECT_EQ(words[8], "N/A") << "not checked";
    EXPECT_EQ(words[9], "N/A") << "no form in place";
    EXPECT_THAT(alone, HasSubstr("# busbw is n/a: one rank"));
    EXPECT_THAT(alone, HasSubstr("# Out of bounds values : not checked\n# Avg bus bandwidth    : n/a\n"));
}

TEST(CommAnswer, ShowsWrongElementsOfAnInvalidRun) {
    StoredRun run = comm_run({{.wrong = 3}});
    run.valid = false;
    run.exit_code = 3;
    run.warnings = {"24 elements are wrong"};
    const std::string text = answer_text(run);
    EXPECT_TRUE(text.starts_with("INVALID (exit code 3)")) << text;
    EXPECT_EQ(words_of(rows_of(text)[0])[8], "3");
    EXPECT_THAT(text, HasSubstr("# Out of bounds values : 24 FAILED\n"));
    EXPECT_THAT(text, Not(HasSubstr("  fit "))) << "what does not stand is not summed up";
    EXPECT_THAT(run_text(run), HasSubstr("# Out of bounds values : 24 FAILED\n"));
}

TEST(CommAnswer, HasABlockForEachOperationLevelAndLoad) {
    const std::string text = answer_text(comm_run(
        {{}, {.op = "alltoall", .in_place = false}, {.level = "host"}, {.load = "loaded", .mark = "few"}}));
    EXPECT_THAT(text, HasSubstr("# allreduce: 2 ranks\n"));
    EXPECT_THAT(text, HasSubstr("# alltoall: 2 ranks\n"));
    EXPECT_THAT(text, HasSubstr("# allreduce: 2 ranks of one host\n"));
    EXPECT_THAT(text, HasSubstr("# allreduce: 2 ranks; a compute kernel ran on the same cores\n"));
    EXPECT_THAT(text, HasSubstr("64 KiB in place and 2 more: few\n"));
}

TEST(CommAnswer, SaysHowItWasTimedAndWhatItComesTo) {
    StoredRun run = comm_run();
    const std::string text = flat(answer_text(run));
    EXPECT_THAT(text,
                HasSubstr("policy a barrier between two calls, outside the time over ranks the longest of "
                          "the ranks' times timer resolution 25 ns, ranks leave a barrier 0.4 us apart "
                          "fit allreduce fp32: 2.000 us + S / 4.000 GB/s [3.800 .. 4.200], half of that "
                          "rate at 7.8 KiB"));
    EXPECT_THAT(text, HasSubstr("verified yes: every element of the results"));
    EXPECT_THAT(text, Not(HasSubstr("late rank")));
    run.context.push_back({"collectives", "late", "rank 1 on node02 comes 20 ms after the others"});
    EXPECT_THAT(flat(answer_text(run)), HasSubstr("late rank rank 1 on node02 comes 20 ms after the others"));
    EXPECT_EQ(answer_line(run), "allreduce fp32: 4 MiB in 1.051 ms, busbw 3.992 GB/s on 2 ranks");
}

TEST(CommAnswer, ShowsWhatStartedOperationsHide) {
    StoredRun run = comm_run();
    results::Rows rows("nonblocking");
    rows.add({std::string("allreduce"), std::string("job"), std::string("idle"), std::string("fp32"),
              std::string("sum"), std::int64_t{2}, std::int64_t{1024}, std::string("poll"), std::int64_t{50},
              30.0, 20.0, 1.5, 2.5, 6.0, 20.5, 51.25, 40.0, 60.0, std::string()});
    run.tables.push_back(std::move(rows).table());
    const std::string text = answer_text(run);
    EXPECT_THAT(text, HasSubstr("# allreduce fp32, started and waited for behind compute; progress: poll\n"));
    EXPECT_THAT(line_with(text, "Overall(us)"),
                testing::StartsWith("# Size           Overall(us)       Compute(us)"));
    EXPECT_EQ(words_of(line_with(text, "51.25")),
              (Lines{"1024", "30.00", "20.00", "1.50", "2.50", "6.00", "20.50", "51.25", "40.00", "60.00"}));
}

TEST(CommAnswer, ShowsAModelsBucketsAndTheirSum) {
    StoredRun run = comm_run();
    run.config.push_back({"from-model", "resnet50"});
    run.tables.push_back(sample_buckets({1048576, 2097152}));
    run.measurements.push_back(comm_measurement("buckets_time_s", "s", results::Kind::cost, 0.0125));
    const std::string text = answer_text(run);
    EXPECT_THAT(text, HasSubstr("# Gradient buckets of resnet50"));
    EXPECT_EQ(words_of(line_with(text, "2097152")),
              (Lines{"2097152", "524288", "float", "sum", "-1", "N/A", "N/A", "N/A", "N/A", "524.29", "4.00",
                     "4.00", "0", "471.86", "576.72", "1", "3"}));
    EXPECT_THAT(text, HasSubstr("# Sum of 2 buckets     : 3 MiB in 12.50 ms"));
    EXPECT_EQ(answer_line(run), "2 buckets of resnet50: 3 MiB in 12.50 ms on 2 ranks");
}

TEST(CommText, HasNoRowForEachMessageAgain) {
    const std::string text = run_text(comm_run());
    EXPECT_THAT(text, HasSubstr("# Avg bus bandwidth"));
    EXPECT_THAT(text, HasSubstr("  time_us"));
    EXPECT_THAT(text, Not(HasSubstr("time_us:")));
    EXPECT_THAT(text, HasSubstr("\nfits\n"));
    EXPECT_THAT(text, Not(HasSubstr("\nmessages\n")));
}

class NetworkLine : public testing::Test {
  protected:
    StoredRun training = step_run("train", 2, 0.1);

    NetworkLine() {
        training.config.push_back({"backend", "mpi"});
        training.tables = {sample_communication({{1048576, 0.0008}, {65536, 0.00005}})};
        training.hosts = comm_run().hosts;
    }
    std::string line(const std::vector<StoredRun>& others) {
        std::vector<StoredRun> runs = others;
        runs.push_back(training);
        return network_line(StoredRuns(runs).file(), training, "`comm` would");
    }
};

TEST_F(NetworkLine, SaysWhatTheNetworkGivesBesideWhatTheStepPays) {
    StoredRun old = comm_run({{.GBps = 1}}, "old"), newest = comm_run();
    old.started_utc = "2026-11-23T10:15:00Z";
    // 64 KiB was measured in place: 20.2 us; 1 MiB lies between 20.2 us and 1156 us (in place).
    EXPECT_EQ(
        line({newest, old}),
        "the network gives these 2 buckets 320.2 us (comm run 20261124T101500Z-c0ffee); the step pays 850.0 "
        "us, 2.654 x");
}

TEST_F(NetworkLine, NeedsARunOfTheSameKind) {
    const std::string how = "no run here says what it gives these buckets: `comm` would";
    EXPECT_EQ(line({}), how);
    StoredRun other = comm_run();
    other.hosts[1].host = "node02";
    EXPECT_EQ(line({other}), how) << "hosts";
    EXPECT_EQ(line({comm_run({{.ranks = 3}})}), how) << "ranks";
    EXPECT_EQ(line({comm_run({{.op = "broadcast"}})}), how) << "operation";
    EXPECT_EQ(line({comm_run({{.dtype = "fp16"}})}), how) << "type";
    other = comm_run();
    other.config[3].value = "nccl";
    EXPECT_EQ(line({other}), how) << "backend";
    other = comm_run();
    other.valid = false;
    EXPECT_EQ(line({other}), how);
    training.hosts.resize(1);
    EXPECT_EQ(line({}), "") << "one rank pays nothing";
}

TEST_F(NetworkLine, ExtrapolatesNothing) {
    training.tables = {sample_communication({{1048576, 0.0008}, {8388608, 0.01}})};
    EXPECT_THAT(line({comm_run()}),
                testing::EndsWith("; without 1 bucket of 2 outside of the measured 8 B .. 4 MiB"));
    training.tables = {sample_communication({{8388608, 0.01}})};
    EXPECT_EQ(
        line({comm_run()}),
        "what it gives this bucket is not known: comm run 20261124T101500Z-c0ffee measured 8 B .. 4 MiB");
    StoredRun model = comm_run();
    model.config.push_back({"from-model", "mnist-cnn"});
    model.tables.push_back(sample_buckets({8388608}));
    EXPECT_THAT(line({model}), HasSubstr("gives this bucket 2.097 ms"));
}

}  // namespace
}  // namespace ranklab::report::formats
