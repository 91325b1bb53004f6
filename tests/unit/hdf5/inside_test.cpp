// Files that lead out of themselves, or in a circle.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/contents.hpp"
#include "hdf5/dataset_place.hpp"
#include "hdf5/file.hpp"
#include "hdf5/record_source.hpp"
#include "hdf5/table.hpp"
#include "hdf5/volume.hpp"
#include "thrown_sentence.hpp"
#include "unit/hdf5/scratch.hpp"

namespace ranklab::hdf5 {
namespace {

class Outside : public ::testing::Test {
  protected:
    // A file of another, which nobody may come to see, and a FIFO, on which an open would wait.
    Outside() {
        File secret = File::create(other());
        write_array(secret.root(), "x", std::vector<double>{1, 2, 3});
        secret.root().create_group("group", 0);
        secret.close();
        ::mkfifo(fifo().c_str(), 0600);
        std::ofstream(raw(), std::ios::binary) << std::string(24, 'z');
    }
    std::filesystem::path other() const { return beside("other.h5"); }
    std::filesystem::path fifo() const { return beside("fifo"); }
    std::filesystem::path raw() const { return beside("raw"); }
    std::filesystem::path beside(const char* name) const { return scratch_.file().parent_path() / name; }

    /// A file made by `make` in which "x" is refused by everything that reads, with this word.
    void expect_refused(const std::function<void(hid_t)>& make, const std::string& word) {
        library_version();
        File file = File::create(scratch_.file());
        make(file.root().id());
        file.close();
        const File opened = File::open_to_read(scratch_.file());
        const Group root = opened.root();
        const std::vector<std::function<void()>> readers{
            [&] { read_array(root, "x"); }, [&] { open_dataset(root, "x"); },
            [&] { read_table(root, "x"); }, [&] { Volume::open(root, "x"); },
            [&] { place_of(root, "x"); },   [&] { open_for_boxes(root, "x", 1000); },
            [&] { contents_of(root); },     [&] { copy_group(root, "x", root, "y"); },
        };
        for (std::size_t i = 0; i < readers.size(); ++i) {
            const auto said = tests::thrown_sentence<base::DataError>(readers[i]);
            EXPECT_NE(said.find(word), std::string::npos) << "reader " << i << ": " << said;
        }
    }
    Scratch scratch_;
};

TEST_F(Outside, ExternalLinksAreNotFollowed) {
    for (const auto& target : {other(), fifo(), beside("missing.h5")})
        expect_refused(
            [&](hid_t root) { H5Lcreate_external(target.c_str(), "x", root, "x", H5P_DEFAULT, H5P_DEFAULT); },
            "leads into another file");
}

TEST_F(Outside, NorBehindSoftOnesOrAsGroups) {
    expect_refused(
        [&](hid_t root) {
            H5Lcreate_external(other().c_str(), "/", root, "other", H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_soft("/other/x", root, "x", H5P_DEFAULT, H5P_DEFAULT);
        },
        "leads into another file");
    File file = File::create(scratch_.file());
    H5Lcreate_external(fifo().c_str(), "/group", file.root().id(), "group", H5P_DEFAULT, H5P_DEFAULT);
    file.close();
    const File opened = File::open_to_read(scratch_.file());
    EXPECT_THROW(opened.root().open_group("group"), base::DataError);
    EXPECT_EQ(opened.root().members(), std::vector<std::string>{"group"}) << "a list opens nothing";
}

hid_t three() {
    const hsize_t n = 3;
    return H5Screate_simple(1, &n, nullptr);
}

TEST_F(Outside, ExternalStorageIsNotRead) {
    for (const auto& target : {raw(), fifo()})
        expect_refused(
            [&](hid_t root) {
                const hid_t space = three();
                const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
                H5Pset_external(properties, target.c_str(), 0, 24);
                H5Dclose(
                    H5Dcreate2(root, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
                H5Pclose(properties);
                H5Sclose(space);
            },
            "external storage");
}

TEST_F(Outside, VirtualDatasetsAreNotRead) {
    for (const auto& target : {other(), fifo()})
        expect_refused(
            [&](hid_t root) {
                const hid_t space = three();
                const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
                H5Pset_virtual(properties, space, target.c_str(), "x", space);
                H5Dclose(
                    H5Dcreate2(root, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
                H5Pclose(properties);
                H5Sclose(space);
            },
            "virtual dataset");
}

TEST_F(Outside, FiltersOfOthersAreNotLoaded) {
    expect_refused(
        [&](hid_t root) {
            const hid_t space = three();
            const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
            const hsize_t chunk = 3;
            H5Pset_chunk(properties, 1, &chunk);
            H5Pset_nbit(properties);
            H5Dclose(H5Dcreate2(root, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
            H5Pclose(properties);
            H5Sclose(space);
        },
        "through filter");
    unsigned loading = 1;
    ASSERT_GE(H5PLget_loading_state(&loading), 0);
    EXPECT_EQ(loading, 0U);
}

TEST_F(Outside, RecordFilesAreReadTheSameWay) {
    File file = File::create(scratch_.file());
    const Group output = file.root().create_group("output", 1);
    H5Lcreate_external(fifo().c_str(), "x", output.id(), "x", H5P_DEFAULT, H5P_DEFAULT);
    file.close();
    const std::array<std::int64_t, 1> shape{3};
    EXPECT_THROW(RecordSource(scratch_.file()).open("x", shape), base::DataError);
    EXPECT_THROW(const RecordSource source(fifo()), base::DataError);
}

TEST_F(Outside, OnlyRegularFilesAreOpened) {
    EXPECT_FALSE(is_hdf5(fifo()));
    EXPECT_THROW(File::open_to_read(fifo()), base::DataError);
    EXPECT_FALSE(is_hdf5("/dev/zero"));
}

class Circles : public ::testing::Test {
  protected:
    void expect_refused(const std::function<void(const Group&)>& make) {
        File file = File::create(scratch_.file());
        make(file.root());
        file.close();
        const File again = File::open_to_read(scratch_.file());
        EXPECT_THROW(contents_of(again.root()), base::DataError);
    }
    static void link(const Group& from, const char* name, const Group& to, const char* new_name) {
        H5Lcreate_hard(from.id(), name, to.id(), new_name, H5P_DEFAULT, H5P_DEFAULT);
    }
    Scratch scratch_;
};

TEST_F(Circles, GroupsWithinThemselvesAreRefused) {
    expect_refused([](const Group& root) {
        const Group a = root.create_group("a", 1);
        link(root, "a", a.create_group("b", 1), "back");
    });
}

// 2 to the power of 15 ways through 15 groups.
TEST_F(Circles, ManyWaysToOnePlaceAreRefused) {
    expect_refused([](const Group& root) {
        std::vector<Group> groups;
        groups.push_back(root.create_group("a", 2));
        for (int i = 0; i < 14; ++i) {
            groups.push_back(groups.back().create_group("a", 2));
            link(groups[groups.size() - 2], "a", groups[groups.size() - 2], "b");
        }
    });
}

TEST_F(Circles, ManyNamesOfOneRunAreRefused) {
    File file = File::create(scratch_.file());
    const Group runs = file.root().create_large_group("runs");
    runs.create_group("0", 1);
    for (int i = 1; i < 1000; ++i) link(runs, "0", runs, std::to_string(i).c_str());
    file.close();
    const File again = File::open_to_read(scratch_.file());
    EXPECT_THROW(again.root().open_group("runs").members(), base::DataError);
}

TEST_F(Circles, DeepGroupsAreRefused) {
    expect_refused([](const Group& root) {
        std::vector<Group> groups;
        groups.push_back(root.create_group("a", 1));
        for (int i = 0; i < 1000; ++i) groups.push_back(groups.back().create_group("a", 1));
    });
}

TEST_F(Circles, ASoftLinkIsNoMember) {
    expect_refused([](const Group& root) {
        root.create_group("a", 1);
        H5Lcreate_soft("/a", root.id(), "b", H5P_DEFAULT, H5P_DEFAULT);
    });
}

// The library would copy 24 bytes out of a buffer of none. The oldest form has no checksum that would tell.
TEST(Storage, ThatDisagreesWithTheShapeIsDamaged) {
    const Scratch scratch;
    library_version();
    const std::array<double, 3> values{1, 2, 3};
    const hid_t file = H5Fcreate(scratch.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = three();
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(properties, H5D_COMPACT);
    const hid_t dataset =
        H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    EXPECT_EQ(read_array(File::open_to_read(scratch.file()).root(), "x").rows, 3U);
    std::ifstream in(scratch.file(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::string numbers(reinterpret_cast<const char*>(values.data()), sizeof values);
    const std::size_t at = bytes.find(numbers);
    ASSERT_EQ(bytes.substr(at - 2, 2), std::string("\x18\0", 2));
    bytes.replace(at - 2, 2, 2, '\0');
    std::ofstream(scratch.file(), std::ios::binary) << bytes;
    EXPECT_THROW(read_array(File::open_to_read(scratch.file()).root(), "x"), base::DataError);
}

// 64 MiB that were never written, in a file of 100 KB: one is taken, twelve together are too much for it.
TEST(Bombs, AreBoundedTogether) {
    const Scratch scratch;
    File file = File::create(scratch.file());
    std::vector<double> noise(12500);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = std::sin(static_cast<double>(i * i));
    write_array(file.root(), "room", noise);
    const Group runs = file.root().create_large_group("runs");
    for (int i = 0; i < 12; ++i) {
        const hsize_t n = std::size_t{8} << 20U;
        const hid_t space = H5Screate_simple(1, &n, nullptr);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(properties, 1, &n);
        H5Dclose(H5Dcreate2(runs.id(), std::to_string(i).c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                            properties, H5P_DEFAULT));
        H5Pclose(properties);
        H5Sclose(space);
    }
    file.close();
    const File again = File::open_to_read(scratch.file());
    const auto all = [&] {
        const Group opened = again.root().open_group("runs");
        for (const auto& name : opened.members()) read_array(opened, name);
    };
    EXPECT_THROW(all(), base::DataError);
    EXPECT_EQ(read_array(File::open_to_read(scratch.file()).root().open_group("runs"), "11").rows, 8U << 20U);
}

}  // namespace
}  // namespace ranklab::hdf5
