// Files of records by one process: how the datasets lie, and what a reader says of files that are
// not so.
#include "hdf5/dataset_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "thrown_sentence.hpp"
#include "unit/hdf5/scratch.hpp"

namespace ranklab::hdf5 {
namespace {

using tests::thrown_sentence;

constexpr std::array<std::int64_t, 2> kShape{3, 4};

std::vector<double> numbers(std::size_t count, double first = 0.25) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// One record "a" of 3 x 4.
void write_one(const std::filesystem::path& path, const DatasetFileOptions& options = {},
               std::span<const std::int64_t> chunk = {}) {
    DatasetFile file(path, options);
    file.make("a", kShape, chunk);
    file.write(file.open("a"), {{0, 0}, {3, 4}}, numbers(12), Requested::independent);
    file.close();
}

/// Calls `look` with the dataset, opened by the library itself.
template <class Look>
void look_at(const std::filesystem::path& path, Look look) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/output/a", H5P_DEFAULT);
    look(dataset);
    H5Dclose(dataset);
    H5Fclose(file);
}

TEST(DatasetFile, WritesBoxes) {
    const Scratch scratch;
    DatasetFile file(scratch.file(), {});
    file.make("a", kShape, {});
    const auto dataset = file.open("a");
    file.write(dataset, {{0, 0}, {1, 4}}, numbers(4), Requested::independent);
    file.write(dataset, {{1, 0}, {2, 4}}, numbers(8, 4.25), Requested::independent);
    file.write(dataset, {{3, 0}, {0, 4}}, numbers(0), Requested::independent);
    EXPECT_THROW(file.write(dataset, {{0, 0}, {1, 4}}, numbers(5), Requested::independent),
                 base::Error);
    EXPECT_TRUE(file.transfers().empty());  // MPI-IO's alone
    file.close();

    const DatasetSource source(scratch.file());
    std::vector<double> found(12);
    read_part(source.open("a", kShape), {}, found);
    EXPECT_EQ(found, numbers(12));
}

TEST(DatasetFile, MakesDatasetsAsH5pyDoes) {
    const Scratch scratch;
    write_one(scratch.file());
    look_at(scratch.file(), [](hid_t dataset) {
        const hid_t properties = H5Dget_create_plist(dataset);
        EXPECT_EQ(H5Pget_layout(properties), H5D_CONTIGUOUS);
        EXPECT_EQ(H5Pget_nfilters(properties), 0);
        H5Pclose(properties);
        H5O_info_t info{};
        H5Oget_info2(dataset, &info, H5O_INFO_NUM_ATTRS);
        EXPECT_EQ(info.num_attrs, 0U);
        EXPECT_GE(H5Dget_storage_size(dataset), 96U);
    });
}

TEST(DatasetFile, CutsChunksToTheShape) {
    const Scratch scratch;
    const std::array<std::int64_t, 2> chunk{2, 9};
    write_one(scratch.file(), {}, chunk);
    look_at(scratch.file(), [](hid_t dataset) {
        const hid_t properties = H5Dget_create_plist(dataset);
        std::array<hsize_t, 2> edges{};
        ASSERT_EQ(H5Pget_layout(properties), H5D_CHUNKED);
        H5Pget_chunk(properties, 2, edges.data());
        EXPECT_EQ(edges, (std::array<hsize_t, 2>{2, 4}));
        H5Pclose(properties);
    });
}

TEST(DatasetFile, AlignsWhatIsLarge) {
    const Scratch scratch;
    write_one(scratch.file(), {.alignment = 64});
    look_at(scratch.file(), [](hid_t dataset) { EXPECT_EQ(H5Dget_offset(dataset) % 64, 0U); });
}

TEST(DatasetFile, AllocatesWhenItIsTold) {
    for (const bool early : {false, true}) {
        const Scratch scratch;
        DatasetFile file(scratch.file(), {.early_allocation = early});
        file.make("a", kShape, {});
        file.close();
        look_at(scratch.file(),
                [&](hid_t dataset) { EXPECT_EQ(H5Dget_storage_size(dataset) > 0, early); });
    }
}

TEST(DatasetFile, TheSameBytesEveryTime) {
    const Scratch scratch;
    const Scratch other;
    write_one(scratch.file());
    write_one(other.file());
    const auto bytes = [](const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_EQ(bytes(scratch.file()), bytes(other.file()));
}

TEST(DatasetSource, ReadsPlanes) {
    const Scratch scratch;
    const std::array<std::int64_t, 3> shape{2, 3, 4};
    DatasetFile file(scratch.file(), {});
    file.make("data", shape, {});
    file.write(file.open("data"), {{0, 0, 0}, {2, 3, 4}}, numbers(24), Requested::independent);
    file.close();
    const DatasetSource source(scratch.file());
    std::vector<double> found(12);
    const auto dataset = source.open("data", shape);
    read_part(dataset, {{1, 0, 0}, {1, 3, 4}}, found);
    EXPECT_EQ(found, numbers(12, 12.25));
    EXPECT_THROW(read_part(dataset, {{0, 0, 0}, {2, 3, 4}}, found), base::Error);
}

TEST(DatasetSource, SaysWhatIsWrong) {
    const Scratch scratch;
    const auto sentence = [&](const char* name, std::span<const std::int64_t> shape) {
        return thrown_sentence<base::DataError>([&] {
            const DatasetSource source(scratch.file());
            source.open(name, shape);
        });
    };
    EXPECT_NE(sentence("a", kShape), "") << "no file";
    std::ofstream(scratch.file()) << "no HDF5 file at all\n";
    EXPECT_NE(sentence("a", kShape).find("HDF5"), std::string::npos);
    write_one(scratch.file());
    EXPECT_NE(sentence("b", kShape).find(" b "), std::string::npos);
    const std::array<std::int64_t, 2> other{4, 3};
    EXPECT_NE(sentence("a", other).find("[4, 3]"), std::string::npos);
    std::filesystem::resize_file(scratch.file(), std::filesystem::file_size(scratch.file()) - 8);
    const auto truncated = sentence("a", kShape);
    EXPECT_NE(truncated.find("HDF5"), std::string::npos);
    EXPECT_EQ(truncated.find('\n'), std::string::npos);
}

TEST(DatasetSource, TakesFloat64Alone) {
    const Scratch scratch;
    const hid_t file = H5Fcreate(scratch.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "output", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<hsize_t, 2> shape{3, 4};
    const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
    H5Dclose(H5Dcreate2(group, "a", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Gclose(group);
    H5Fclose(file);
    const DatasetSource source(scratch.file());
    const auto sentence = thrown_sentence<base::DataError>([&] { source.open("a", kShape); });
    EXPECT_NE(sentence.find("float64"), std::string::npos) << sentence;
}

TEST(Transfers, HaveWords) {
    const Transfer plain{.requested = Requested::collective,
                         .io_mode = H5D_MPIO_CONTIGUOUS_COLLECTIVE};
    EXPECT_FALSE(plain.fell_back());
    EXPECT_EQ(words_of(plain)[1], "contiguous collective");
    EXPECT_EQ(words_of(plain)[3], "none");
    const Transfer mixed{.requested = Requested::collective,
                         .io_mode = H5D_MPIO_CHUNK_MIXED,
                         .chunk_mode = H5D_MPIO_MULTI_CHUNK};
    EXPECT_TRUE(mixed.fell_back());
    EXPECT_EQ(words_of(mixed)[2], "multi chunk");
    const Transfer elsewhere{
        .requested = Requested::collective,
        .io_mode = H5D_MPIO_NO_COLLECTIVE,
        .local_cause = H5D_MPIO_DATATYPE_CONVERSION,
        .global_cause = H5D_MPIO_DATATYPE_CONVERSION | H5D_MPIO_DATA_TRANSFORMS};
    EXPECT_TRUE(elsewhere.fell_back());
    EXPECT_EQ(words_of(elsewhere)[3], "data type conversion + data transform (elsewhere)");
    EXPECT_FALSE((Transfer{.requested = Requested::independent}.fell_back()));
}

}  // namespace
}  // namespace ranklab::hdf5
