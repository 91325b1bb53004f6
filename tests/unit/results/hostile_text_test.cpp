// Whatever the bytes of a run's texts are, the file stays one that all can read and that grows.
#include <fmt/format.h>

#include <random>

#include "base/error.hpp"
#include "base/text.hpp"
#include "results/archive.hpp"
#include "results/result_file.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

using Random = std::mt19937;

// Of HDF5's own structures, of JSON, of C and of terminals.
std::string nasty(Random& random) {
    static const std::vector<std::string> kPieces{
        "\x89HDF\r\n\x1a\n",
        "GCOL\x01",
        std::string("GCOL\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16),
        "OHDR\x02",
        "OCHK",
        "TREE",
        "HEAP",
        "SNOD",
        "FRHP",
        "FHDB",
        "FHIB",
        "BTHD",
        "BTIN",
        "BTLF",
        "SMTB",
        "SMLI",
        "FSHD",
        "FSSE",
        "{\"a\":[",
        "\"}",
        "\\u0000",
        "\xff\xfe",
        "\xc2",
        "\xed\xa0\x80",
        "\x1b[2J",
        "\x9b"
        "31m",
        "\u202e",
        "=1+1",
        "\r\n",
        "%s%n",
        "../../x",
        "/",
        ".",
        "",
        std::string(1, '\0')};
    std::string text;
    for (auto pieces = random() % 4; pieces > 0; --pieces) {
        text += kPieces[random() % kPieces.size()];
        for (auto bytes = random() % 20; bytes > 0; --bytes) text += static_cast<char>(random());
    }
    if (random() % 20 == 0) text += std::string(70000, static_cast<char>(1 + random() % 255));
    return text;
}

StoredRun hostile_run(Random& random, int number) {
    StoredRun run = sample_run(fmt::format("run-{}", number));
    const auto text = [&] { return nasty(random); };
    for (std::string* field :
         {&run.command, &run.argv, &run.label, &run.started_utc, &run.version, &run.git_revision})
        *field = text();
    run.config.clear();
    run.context.clear();
    for (int i = 0; i < 3; ++i) {
        run.config.push_back({fmt::format("{} {}", i, base::valid_utf8(text())), text(), random() % 2 == 0});
        run.context.push_back({fmt::format("{}", i % 2), fmt::format("{} {}", i, text()), text()});
        run.warnings.push_back(text());
    }
    for (auto& host : run.hosts) host.host = host.cpus = host.device = text();
    for (auto& measurement : run.measurements) measurement.unit = measurement.rank_reduction = text();
    run.measurements.push_back(one_value("m", text(), Kind::cost, {1, 2}));
    run.measurements.back().axis = text();
    run.tables.push_back({"hostile", {{"text", std::vector<std::string>{text(), text(), text()}}}});
    return run;
}

// A NUL ends a text in HDF5.
std::string stored(const std::string& text) {
    return text.substr(0, text.find('\0'));
}

// JSON holds no other bytes than UTF-8. How many U+FFFD stand for a few of them differs among programs.
std::string in_json(const std::string& text) {
    static const std::string kReplacement = "\uFFFD";
    std::string mended = base::valid_utf8(text);
    for (std::size_t at = 0; (at = mended.find(kReplacement + kReplacement, at)) != std::string::npos;)
        mended.erase(at, kReplacement.size());
    return mended;
}

void expect_came_back(const StoredRun& again, const StoredRun& run) {
    EXPECT_EQ(again.label, stored(run.label));
    EXPECT_EQ(again.argv, stored(run.argv));
    EXPECT_EQ(again.command, stored(run.command));
    EXPECT_EQ(again.version, stored(run.version));
    ASSERT_EQ(again.warnings.size(), run.warnings.size());
    for (std::size_t i = 0; i < run.warnings.size(); ++i)
        EXPECT_EQ(in_json(again.warnings[i]), in_json(run.warnings[i]));
    ASSERT_EQ(again.config.size(), run.config.size());
    for (std::size_t i = 0; i < run.config.size(); ++i) {
        EXPECT_EQ(again.config[i].key, run.config[i].key);
        if (run.config[i].number) continue;
        EXPECT_EQ(in_json(again.config[i].value), in_json(run.config[i].value));
    }
    ASSERT_EQ(again.hosts.size(), run.hosts.size());
    EXPECT_EQ(again.hosts[0].host, stored(run.hosts[0].host));
    EXPECT_EQ(again.measurements.back().unit, stored(run.measurements.back().unit));
    EXPECT_EQ(again.measurements.back().axis, stored(run.measurements.back().axis));
    const auto& texts = std::get<std::vector<std::string>>(run.tables.back().columns[0].values);
    const auto& found = std::get<std::vector<std::string>>(again.tables.back().columns[0].values);
    ASSERT_EQ(found.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(found[i], stored(texts[i]));
}

TEST(HostileTexts, ComeBackAndHarmNothing) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    Random random(20261122);
    std::vector<StoredRun> runs;
    for (int i = 0; i < 5; ++i) {
        runs.push_back(hostile_run(random, i));
        file.append(runs.back());
    }
    file.append(sample_run("last"));
    const auto headers = file.runs();
    ASSERT_EQ(headers.size(), runs.size() + 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(headers[i].label, stored(runs[i].label));
        expect_came_back(file.read(runs[i].id), runs[i]);
    }
    const auto found = inspect(file.path());
    EXPECT_TRUE(found.damaged.empty());
    merge(folder / "merged.h5", {file.path()});
    EXPECT_EQ(inspect(folder / "merged.h5").whole.size(), runs.size() + 1);
    remove_runs(file.path(), {"run-0", "last"});
    EXPECT_EQ(inspect(file.path()).whole.size(), runs.size() - 1);
}

// Bytes alone, 0 and 255 among them, as a whole label.
TEST(HostileTexts, OfEachByte) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    for (int byte = 0; byte < 256; byte += 51) {
        StoredRun run = sample_run(std::to_string(byte));
        run.label = std::string(4, static_cast<char>(byte));
        run.warnings = {run.label};
        file.append(run);
        const auto again = file.read(run.id);
        EXPECT_EQ(again.label, stored(run.label));
        EXPECT_EQ(in_json(again.warnings.front()), in_json(run.label));
    }
}

}  // namespace
}  // namespace ranklab::results
