// Checks, merges and exports results files; no run is lost.
#include "results/result_file.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

StoredRun started(const std::string& id, const std::string& time, const std::string& label = "") {
    StoredRun run = sample_run(id);
    run.started_utc = time;
    run.label = label;
    return run;
}

fs::path store_all(const fs::path& path, const std::vector<StoredRun>& runs) {
    for (const auto& run : runs) ResultFile(path).append(run);
    return path;
}

std::vector<std::string> ids_of(const fs::path& path) {
    std::vector<std::string> ids;
    for (const auto& run : ResultFile(path).runs()) ids.push_back(run.id);
    return ids;
}

using Ids = std::vector<std::string>;

TEST(Merge, OrdersWhatItAddsByStartAndKeepsEveryField) {
    const TempFolder folder;
    const auto a = store_all(folder / "a", {started("a1", "2026-01-01T00:00:00Z"),
                                            started("a2", "2026-03-01T00:00:00Z")});
    const auto b = store_all(folder / "b", {started("b1", "2026-02-01T00:00:00Z")});
    const auto merged = merge(folder / "new/out", {a, b});
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_EQ(merged[0].added, 2U);
    EXPECT_EQ(merged[1].added, 1U);
    EXPECT_EQ(ids_of(folder / "new/out"), (Ids{"a1", "b1", "a2"}));
    for (const char* id : {"a1", "a2"})
        expect_same(ResultFile(folder / "new/out").read(id), ResultFile(a).read(id));
    EXPECT_EQ(inspect(folder / "new/out").damaged.size(), 0U);
}

TEST(Merge, OfTheSameRunsAgainChangesNothing) {
    const TempFolder folder;
    const auto a = store_all(folder / "a", {sample_run("x"), sample_run("y")});
    merge(folder / "out", {a});
    const auto again = merge(folder / "out", {a, folder / "out"});
    EXPECT_EQ(again[0].known, 2U);
    EXPECT_EQ(again[0].added, 0U);
    EXPECT_EQ(again[1].known, 2U);
    EXPECT_EQ(ids_of(folder / "out"), (Ids{"x", "y"}));
}

TEST(Merge, WithADamagedFileLeavesTheOtherAlone) {
    const TempFolder folder;
    const auto a = store_all(folder / "a", {sample_run("x")});
    const auto b = store_all(folder / "b", {sample_run("y")});
    const std::string bytes = bytes_of(b);
    write_bytes(b, bytes.substr(0, bytes.size() / 2));
    const std::string before = bytes_of(a);
    EXPECT_THROW(merge(a, {b}), base::DataError);
    EXPECT_THROW(merge(a, {folder / "none"}), base::OptionError);
    EXPECT_TRUE(bytes_of(a) == before);
}

// Objects of a later version in a file are copied, too.
TEST(Archive, KeepsWhatANewerRanklabStored) {
    const TempFolder folder;
    const auto path = store_all(folder / "a", {sample_run("x"), sample_run("y")});
    {
        hdf5::File file = hdf5::File::open_to_change(path);
        const auto root = file.root();
        root.create_group("notes", 1).set_int("answer", 42);
        const auto run = root.open_group("runs").open_group("x");
        run.set_text("newer", "of the run");
        run.create_group("spectra", 1).set_double("peak", 0.5);
        file.close();
    }
    merge(path, {store_all(folder / "b", {sample_run("z")})});
    const auto file = hdf5::File::open_to_read(path);
    EXPECT_EQ(file.root().open_group("notes").int_attribute("answer"), 42);
    const auto run = file.root().open_group("runs").open_group("x");
    EXPECT_EQ(run.text_attribute("newer"), "of the run");
    EXPECT_EQ(run.open_group("spectra").double_attribute("peak"), 0.5);
}

TEST(ExportRuns, WritesThoseAndNoOthers) {
    const TempFolder folder;
    const auto path = store_all(folder / "a", {sample_run("x"), sample_run("y"), sample_run("z")});
    export_runs(path, {"z", "x"}, folder / "b");
    EXPECT_EQ(ids_of(folder / "b"), (Ids{"x", "z"}));
    expect_same(ResultFile(folder / "b").read("z"), sample_run("z"));
    EXPECT_THROW(export_runs(path, {"x"}, folder / "b"), base::OptionError);
    EXPECT_EQ(ids_of(folder / "b"), (Ids{"x", "z"}));
}

TEST(Inspect, NamesTheDamagedRunAndTheWhole) {
    const TempFolder folder;
    const auto path = store_all(folder / "a", {sample_run("x"), sample_run("y"), sample_run("z")});
    {
        hdf5::File file = hdf5::File::open_to_change(path);
        const auto run = file.root().open_group("runs").create_group("broken", 1);
        run.set_text("command", "train");
        file.close();
    }
    const auto found = inspect(path);
    EXPECT_EQ(found.runs, 4U);
    EXPECT_EQ(found.whole, (std::set<std::string>{"x", "y", "z"}));
    ASSERT_EQ(found.damaged.size(), 1U);
    EXPECT_EQ(found.damaged[0].id, "broken");
    EXPECT_EQ(found.bytes, fs::file_size(path));
}

}  // namespace
}  // namespace ranklab::results
