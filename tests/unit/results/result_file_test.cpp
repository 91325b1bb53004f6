#include "results/result_file.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

std::string id_of(int i) {
    return "20261121T101500Z-00000" + std::to_string(i);
}

TEST(ResultFile, GivesBackEveryField) {
    const TempFolder folder;
    const ResultFile file(folder / "sub/folder/r.h5");
    file.check_writable(10000);
    file.append(sample_run());
    expect_same(file.read(sample_run().id), sample_run());
}

TEST(ResultFile, GivesBackTheThreadsAndCoresOfEachRank) {
    const TempFolder folder;
    const ResultFile file(folder.path() / "r.h5");
    StoredRun run = sample_run();
    run.hosts[0].threads = 2;
    run.hosts[0].cores = "0-1";
    file.append(run);
    expect_same(file.read(run.id), run);
}

TEST(ResultFile, GivesBackTheEmptyRun) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    StoredRun run;
    run.id = "only-an-id";
    file.append(run);
    expect_same(file.read("only-an-id"), run);
}

// A GPU run always used LibTorch's operations, whatever it stored.
TEST(ResultFile, SaysWhoseOperationsARunHadBeforeThatWasASetting) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    for (const char* device : {"cpu", "cuda"}) {
        StoredRun run;
        run.id = device;
        run.command = "train";
        run.config = {{"device", device, false}};
        file.append(run);
    }
    EXPECT_EQ(file.read("cuda").setting("ops"), "libtorch");
    EXPECT_EQ(file.read("cpu").setting("ops"), "ranklab");
    StoredRun other;
    other.id = "of another command";
    file.append(other);
    EXPECT_EQ(file.read(other.id).setting("ops"), "");
}

TEST(ResultFile, GivesBackWhateverNameItTook) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    for (const char* id : {"a.b", "..", "v1.", "two words"}) {
        file.append(sample_run(id));
        EXPECT_EQ(file.read(id).id, id);
    }
    for (const char* id : {"", ".", "../runs/a.b", "a.b/tables"})
        EXPECT_THROW(file.read(id), base::OptionError) << id;
}

TEST(ResultFile, GivesBackOddShapes) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    StoredRun run = sample_run();
    run.valid = false;
    run.exit_code = -7;
    run.context.push_back({"long", "text", std::string(200000, 'x') + "€"});
    run.warnings = {"", "a\nb\t\"c\" \\ 日本語 🚀"};
    run.argv = "";
    run.measurements.push_back({"no samples", "", Kind::count, "", "step", 3, {}, {}, {}});
    run.measurements.push_back({"summary only", "", Kind::ratio, "none", "", 1, {}, {}, {}});
    run.measurements.push_back(
        {"big", "s", Kind::cost, "max", "step", 3, std::vector<double>(30000, 1.0 / 3), {}, {}});
    run.tables.push_back(
        {"no rows", {{"a", std::vector<double>{}}, {"b", std::vector<std::string>{}}}});
    run.tables.push_back(
        {"long", {{"text", std::vector<std::string>(100, std::string(3000, 'y'))}}});
    file.append(run);
    expect_same(file.read(run.id), run);
}

TEST(ResultFile, SummariesComeWithoutSamples) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(sample_run());
    const StoredRun run = file.read(sample_run().id, Detail::summaries);
    ASSERT_EQ(run.measurements.size(), sample_run().measurements.size());
    EXPECT_TRUE(run.measurements[0].samples.empty());
    EXPECT_EQ(run.measurements[0].summary.median, sample_run().measurements[0].summary.median);
}

TEST(ResultFile, KeepsEarlierRunsAndTheirOrder) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    for (const int i : {5, 3, 9, 1}) file.append(sample_run(id_of(i)));
    std::vector<std::string> ids;
    for (const auto& header : file.runs()) ids.push_back(header.id);
    EXPECT_EQ(ids, (std::vector<std::string>{id_of(5), id_of(3), id_of(9), id_of(1)}));
    const std::vector<StoredRun> all = file.read_all();
    ASSERT_EQ(all.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) expect_same(all[i], sample_run(ids[i]));
}

TEST(ResultFile, HeadersSayWhatAListShows) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    StoredRun run = sample_run();
    run.valid = false;
    run.exit_code = 3;
    file.append(run);
    const RunHeader header = file.runs().at(0);
    EXPECT_EQ(header.id, run.id);
    EXPECT_EQ(header.command, "train");
    EXPECT_EQ(header.label, run.label);
    EXPECT_EQ(header.started_utc, run.started_utc);
    EXPECT_FALSE(header.valid);
    EXPECT_EQ(header.exit_code, 3);
}

TEST(ResultFile, WritesThroughALink) {
    const TempFolder folder;
    ResultFile(folder / "real.h5").append(sample_run("first"));
    fs::create_symlink("real.h5", folder / "link.h5");
    ResultFile(folder / "link.h5").append(sample_run("second"));
    EXPECT_TRUE(fs::is_symlink(folder / "link.h5"));
    EXPECT_EQ(ResultFile(folder / "real.h5").runs().size(), 2U);
}

TEST(ResultFile, LeavesNothingBesideIt) {
    const TempFolder folder;
    write_bytes(folder / ".r.h5.0123456789abcdef.tmp", "left by a killed job");
    const ResultFile file(folder / "r.h5");
    file.check_writable(1000);
    file.append(sample_run());
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"});
}

TEST(ResultFile, RefusesWhatCannotBeStored) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(sample_run());
    const std::string before = bytes_of(folder / "r.h5");
    EXPECT_THROW(file.append(sample_run()), base::Error);  // the same id
    StoredRun twice = sample_run(id_of(1));
    twice.measurements.push_back(twice.measurements.front());
    EXPECT_THROW(file.append(twice), base::Error);
    StoredRun slash = sample_run("a/b");
    EXPECT_THROW(file.append(slash), base::Error);
    StoredRun ragged = sample_run(id_of(2));
    ragged.measurements.front().samples.pop_back();
    EXPECT_THROW(file.append(ragged), base::Error);
    StoredRun uneven = sample_run(id_of(3));
    uneven.tables[0].columns.push_back({"short", std::vector<double>{1}});
    EXPECT_THROW(file.append(uneven), base::Error);
    EXPECT_TRUE(bytes_of(folder / "r.h5") == before);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"});
}

// 20 measurements of 20 steps on 2 ranks, and the context of a real run.
Run short_run(const std::string& id, std::size_t steps) {
    StoredRun run = sample_run(id);
    run.measurements.clear();
    for (int i = 0; i < 20; ++i) {
        const bool timed = i < 8 && steps > 0;
        Measurement m = timed ? step_time(steps, 2) : one_value("", "s", Kind::cost, {});
        if (!timed) m.axis = "";
        m.name = "some_measurement_number_" + std::to_string(i) + "_s";
        run.measurements.push_back(m);
    }
    for (int i = 0; i < 60; ++i)
        run.context.push_back({"section" + std::to_string(i / 10), "key" + std::to_string(i),
                               "a value of usual length"});
    return run;
}

TEST(ResultFile, IsCompact) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(short_run(id_of(1), 20));
    const auto first = fs::file_size(folder / "r.h5");
    EXPECT_LE(first, 30000U);
    file.append(short_run(id_of(2), 0));
    const auto second = fs::file_size(folder / "r.h5") - first;
    EXPECT_LE(second, 15000U) << "what a run takes besides its samples";
    file.append(short_run(id_of(3), 200));
    const std::size_t raw = std::size_t{8} * 8 * 2 * (200 + 2);
    EXPECT_LE(fs::file_size(folder / "r.h5") - first - second, raw + 20000);
    std::cout << "[ SIZE     ] first run " << first << " B, without samples " << second << " B\n";
}

TEST(ResultFile, StoresSeveralRunsOrNone) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(std::vector{sample_run("a"), sample_run("b")});
    EXPECT_THROW(file.append(std::vector{sample_run("c"), sample_run("a")}), base::Error);
    EXPECT_EQ(file.runs().size(), 2U);
    expect_same(file.read("b"), sample_run("b"));
}

// Longer than an attribute can be in HDF5 up to 1.8.
TEST(ResultFile, StoresALongTextAsADatasetWithAChecksum) {
    const TempFolder folder;
    StoredRun run = sample_run();
    run.argv = std::string(70000, 'a') + "é";
    run.label = std::string(60000, 'l');
    ResultFile(folder / "r.h5").append(run);
    expect_same(ResultFile(folder / "r.h5").read(run.id), run);
    const auto file = hdf5::File::open_to_read(folder / "r.h5");
    const auto group = file.root().open_group("runs").open_group(run.id);
    EXPECT_FALSE(group.has_attribute("argv"));
    EXPECT_TRUE(group.has_attribute("label"));
    std::string bytes = bytes_of(folder / "r.h5");
    bytes[bytes.find(std::string(1000, 'a')) + 500] = 'b';
    write_bytes(folder / "damaged.h5", bytes);
    EXPECT_THROW(static_cast<void>(ResultFile(folder / "damaged.h5").read(run.id)), RunDamage);
}

}  // namespace
}  // namespace ranklab::results
