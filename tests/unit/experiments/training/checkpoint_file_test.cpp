// A checkpoint's file. What goes into it is in checkpoint_test.cpp; whole runs are in
// tests/apps/checkpoint_test.py.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "experiments/training/checkpoint.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using tests::TempFolder;

std::vector<std::byte> image_of(std::int64_t value, std::int64_t schema = CheckpointFile::kSchema) {
    const auto file = hdf5::File::create_in_memory();
    file.root().set_int(CheckpointFile::kSchemaName, schema);
    file.root().set_int("value", value);
    return file.image();
}

std::string bytes_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CheckpointFile, KeepsOneWholeFile) {
    const TempFolder folder;
    CheckpointFile file(folder / "a/b");
    file.prepare(1000);
    EXPECT_FALSE(file.open());
    for (const std::int64_t value : {1, 2}) {
        const auto bytes = file.write(image_of(value));
        EXPECT_EQ(bytes, std::filesystem::file_size(file.path()));
        EXPECT_EQ(file.open()->root().int_attribute("value"), value);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a/b"), {}), 1);
}

TEST(CheckpointFile, AnyChangedByteAndAnyCutIsSeen) {
    const TempFolder folder;
    CheckpointFile file(folder.path());
    file.write(image_of(1));
    const std::string good = bytes_in(file.path());
    const auto expect_refused = [&](const std::string& bytes, std::size_t where) {
        folder.write("checkpoint.h5", bytes);
        EXPECT_THROW(file.open(), base::DataError) << where;
    };
    for (std::size_t i = 0; i < good.size(); i += 7) {
        std::string changed = good;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        expect_refused(changed, i);
        expect_refused(good.substr(0, i), i);
    }
    expect_refused(good.substr(0, good.size() - 1), good.size() - 1);
    expect_refused(good + '\0', good.size());
    folder.write("checkpoint.h5", good);
    EXPECT_TRUE(file.open());
}

TEST(CheckpointFile, OfAnotherSchemaSaysSo) {
    const TempFolder folder;
    CheckpointFile file(folder.path());
    file.write(image_of(1, 17));
    const auto said = tests::thrown_sentence<base::DataError>([&] { file.open(); });
    EXPECT_NE(said.find("schema 17"), std::string::npos) << said;
}

TEST(CheckpointFile, PrepareRemovesWhatKilledWritersLeft) {
    const TempFolder folder;
    folder.write(".checkpoint.h5.0123456789abcdef.tmp", "half");
    folder.write("other.tmp", "not ours");
    CheckpointFile(folder.path()).prepare(10);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"other.tmp"});
}

}  // namespace
}  // namespace ranklab::experiments
