// Volume files that are damaged, foreign or hold what no network can use: a sentence.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/error.hpp"
#include "data/sources/cosmology.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"
#include "volume_files.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::place_numbers;
using ranklab::testing::VolumeWriter;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr hsize_t kEdge = 12;

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class OtherVolumes : public ::testing::Test {
  protected:
    /// The sentence with which the file is refused, by every access.
    std::string refused(const std::filesystem::path& path) {
        std::string sentence;
        for (const bool in_memory : {false, true}) {
            sentence = tests::thrown_sentence<base::DataError>(
                [&] { const VolumeFile file(path, in_memory); });
            EXPECT_THAT(sentence, HasSubstr(path.string()));
        }
        return sentence;
    }
    /// A file with these two datasets.
    struct Dataset {
        std::vector<hsize_t> shape;
        ranklab::testing::Layout layout{};
    };
    std::filesystem::path written(const Dataset& nbody, const Dataset& hydro) {
        const auto path = folder_ / "v.h5";
        VolumeWriter writer(path);
        for (const auto& [name, dataset] : {std::pair{"Nbody", &nbody}, {"Hydro", &hydro}}) {
            std::size_t numbers = 1;
            for (const hsize_t extent : dataset->shape) numbers *= extent;
            writer.add(name, dataset->shape, std::vector<float>(numbers), dataset->layout);
        }
        return path;
    }
    tests::TempFolder folder_;
};

const std::vector<hsize_t> kNbody{4, kEdge, kEdge, kEdge};
const std::vector<hsize_t> kHydro{5, kEdge, kEdge, kEdge};

TEST_F(OtherVolumes, MissingOrForeign) {
    EXPECT_THAT(refused(folder_ / "none.h5"), HasSubstr("none.h5"));
    EXPECT_THAT(refused(folder_.path()), HasSubstr("folder"));
    EXPECT_THAT(refused(folder_.write("text.h5", "no volumes")), HasSubstr("HDF5"));
    EXPECT_THAT(refused(folder_.write("empty.h5", "")), HasSubstr("HDF5"));
}

TEST_F(OtherVolumes, OfOtherDatasets) {
    const auto path = folder_ / "v.h5";
    { const VolumeWriter nothing(path); }
    EXPECT_THAT(refused(path), HasSubstr("/Nbody"));
    {
        VolumeWriter writer(path);
        writer.add("Nbody", kNbody, place_numbers(false, 4, kEdge));
    }
    EXPECT_THAT(refused(path), HasSubstr("/Hydro"));
    {
        VolumeWriter writer(path);
        H5Gclose(H5Gcreate2(writer.id(), "Nbody", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        writer.add("Hydro", kHydro, place_numbers(true, 5, kEdge));
    }
    EXPECT_THAT(refused(path), HasSubstr("/Nbody"));
}

TEST_F(OtherVolumes, OfOtherShapesAndTypes) {
    EXPECT_THAT(refused(written({{4, kEdge, kEdge}}, {kHydro})), HasSubstr("[4, 12, 12]"));
    EXPECT_THAT(refused(written({{4, kEdge, kEdge, 11}}, {kHydro})), HasSubstr("[4, 12, 12, 11]"));
    EXPECT_THAT(refused(written({{kEdge, kEdge, kEdge, 4}}, {kHydro})),
                HasSubstr("[12, 12, 12, 4]"));
    EXPECT_THAT(refused(written({{4, 6, 6, 6}}, {kHydro})),
                AllOf(HasSubstr("[4, 6, 6, 6]"), HasSubstr("[5, 12, 12, 12]")));
    EXPECT_THAT(refused(written({kNbody, {.float64 = true}}, {kHydro})), HasSubstr("float32"));
    EXPECT_THAT(refused(written({{0, kEdge, kEdge, kEdge}, {.write = false}}, {kHydro})),
                HasSubstr("[0, 12, 12, 12]"));
}

TEST_F(OtherVolumes, TruncatedAnywhere) {
    for (const bool chunked : {false, true}) {
        const auto whole = folder_ / "whole.h5";
        const auto cut = folder_ / "cut.h5";
        VolumeWriter(whole).add_both(
            kEdge, {.chunk = chunked ? std::vector<hsize_t>{5, 6, 6, 6} : std::vector<hsize_t>{}});
        const auto size = std::filesystem::file_size(whole);
        for (std::uintmax_t bytes = 0; bytes < size; bytes += size / 37) {
            std::filesystem::copy_file(whole, cut,
                                       std::filesystem::copy_options::overwrite_existing);
            std::filesystem::resize_file(cut, bytes);
            refused(cut);
        }
    }
}

// The library's own check of the length is got round by a superblock that says less.
TEST_F(OtherVolumes, PlacesBehindTheEnd) {
    const auto path = folder_ / "v.h5";
    VolumeWriter(path).add_both(kEdge);
    std::string bytes = bytes_of(path);
    // In superblock version 0 the end-of-file address stands at byte 40.
    const std::uint64_t end = bytes.size();
    ASSERT_EQ(std::memcmp(bytes.data() + 40, &end, 8), 0);
    const std::uint64_t less = end - 4096;
    std::memcpy(bytes.data() + 40, &less, 8);
    EXPECT_THAT(refused(folder_.write("v.h5", bytes.substr(0, less))), HasSubstr("truncated"));
}

TEST_F(OtherVolumes, InAnotherFileAreNotFollowed) {
    const auto path = folder_ / "v.h5";
    VolumeWriter(folder_ / "other.h5").add_both(kEdge);
    {
        const VolumeWriter writer(path);
        for (const char* name : {"Nbody", "Hydro"})
            H5Lcreate_external((folder_ / "other.h5").c_str(), name, writer.id(), name, H5P_DEFAULT,
                               H5P_DEFAULT);
    }
    EXPECT_THAT(refused(path), HasSubstr("external link"));
}

TEST_F(OtherVolumes, WithValuesInAnotherFileAreRefused) {
    const auto path = folder_ / "v.h5";
    {
        const VolumeWriter writer(path);
        const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_external(layout, (folder_ / "raw").c_str(), 0, H5F_UNLIMITED);
        for (const hsize_t channels : {4, 5}) {
            const hsize_t shape[] = {channels, kEdge, kEdge, kEdge};
            const hid_t space = H5Screate_simple(4, shape, nullptr);
            H5Dclose(H5Dcreate2(writer.id(), channels == 4 ? "Nbody" : "Hydro", H5T_IEEE_F32LE,
                                space, H5P_DEFAULT, layout, H5P_DEFAULT));
            H5Sclose(space);
        }
        H5Pclose(layout);
    }
    EXPECT_THAT(refused(path), HasSubstr("other files"));
}

TEST_F(OtherVolumes, NeverWritten) {
    for (const auto& layout : {ranklab::testing::Layout{.write = false},
                               {.chunk = {4, 6, 6, 6}, .write = false},
                               {.chunk = {4, 6, 6, 6}, .deflate = true, .write = false}})
        EXPECT_THAT(refused(written({kNbody, layout}, {kHydro})), HasSubstr("never written"));
}

TEST_F(OtherVolumes, NumbersThatAreNoneAreNamedByTheirPlace) {
    const auto path = folder_ / "v.h5";
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinity, -infinity}) {
        // Each place in a row once, so that every part of the copying has met one.
        for (std::size_t z = 0; z < kEdge; ++z) {
            auto values = place_numbers(true, 5, kEdge);
            values[((2 * kEdge + 3) * kEdge + 4) * kEdge + z] = bad;
            {
                VolumeWriter writer(path);
                writer.add("Nbody", kNbody, place_numbers(false, 4, kEdge));
                writer.add("Hydro", kHydro, values);
            }
            const auto file = std::make_shared<const VolumeFile>(path, false);
            const auto source = crop_source(file, {kEdge, 1, z % 2 == 0, false});
            std::vector<std::byte> input(source->layout().input.bytes());
            std::vector<std::byte> target(source->layout().target.bytes());
            ReadTimes times;
            EXPECT_THAT(tests::thrown_sentence<base::DataError>([&] {
                            source->read({0, z}, input.data(), target.data(), times);
                        }),
                        AllOf(HasSubstr(path.string()),
                              HasSubstr(fmt::format("/Hydro[2, 3, 4, {}] is {}", z, bad))));
        }
    }
}

// Other damage shows when the structure of the file is read; this when a chunk is
// decompressed.
TEST_F(OtherVolumes, DamagedChunksAreDamagedData) {
    const auto path = folder_ / "v.h5";
    VolumeWriter(path).add_both(kEdge, {.chunk = {4, 6, 6, 6}, .deflate = true});
    std::string bytes = bytes_of(path);
    for (std::size_t at = 0; at + 1 < bytes.size(); ++at)
        // How a zlib stream begins.
        if (bytes[at] == '\x78' && bytes[at + 1] == '\x01') bytes[at] = '\xff';
    const auto damaged = folder_.write("w.h5", bytes);
    EXPECT_THAT(
        tests::thrown_sentence<base::DataError>([&] { const VolumeFile file(damaged, true); }),
        HasSubstr("damaged"));
}

}  // namespace
}  // namespace ranklab::data
