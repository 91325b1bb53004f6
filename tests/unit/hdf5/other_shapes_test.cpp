// Datasets of another type, shape or size than a reader asks for.
#include <gtest/gtest.h>
#include <hdf5.h>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "unit/hdf5/scratch.hpp"

namespace ranklab::hdf5 {
namespace {

// A dataset without data of any shape and type.
void make_dataset(const Group& group, const char* name, hid_t type, std::vector<hsize_t> shape) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    for (hsize_t& extent : shape) extent = 1;
    H5Pset_chunk(properties, static_cast<int>(shape.size()), shape.data());
    H5Dclose(H5Dcreate2(group.id(), name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
}

void make_attribute(const Group& group, const char* name, hid_t type, hsize_t n) {
    const hid_t space = H5Screate_simple(1, &n, nullptr);
    H5Aclose(H5Acreate2(group.id(), name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
}

TEST(OtherArray, OfAnyTypeRankOrSizeIsRefused) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    const Group root = file.root();
    make_dataset(root, "3d", H5T_NATIVE_DOUBLE, {2, 2, 2});
    make_dataset(root, "text", H5T_C_S1, {2});
    make_dataset(root, "huge", H5T_NATIVE_DOUBLE, {1ULL << 40U});
    make_dataset(root, "overflow", H5T_NATIVE_DOUBLE, {1ULL << 31U, 1ULL << 31U});
    make_dataset(root, "large", H5T_NATIVE_DOUBLE, {100000000});  // 800 MB in a file of a few kB
    for (const char* name : {"3d", "text", "huge", "overflow", "large"})
        EXPECT_THROW(read_array(root, name), base::DataError) << name;
    root.create_group("group", 0);
    EXPECT_THROW(read_array(root, "group"), base::Hdf5Error);
    EXPECT_THROW(read_array(root, "missing"), base::Hdf5Error);
    make_dataset(root, "ints", H5T_NATIVE_INT16, {2});  // numbers of other types are fine
    EXPECT_EQ(read_array(root, "ints").values, (std::vector<double>{0, 0}));
}

TEST(OtherTable, OfAnyTypeRankOrSizeIsRefused) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    const Group root = file.root();
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const hid_t record = H5Tcreate(H5T_COMPOUND, sizeof(char*));
    H5Tinsert(record, "text", 0, text);
    make_dataset(root, "variable texts", record, {2});
    make_dataset(root, "numbers", H5T_NATIVE_DOUBLE, {2});
    const hid_t plain = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(plain, "x", 0, H5T_NATIVE_DOUBLE);
    make_dataset(root, "huge", plain, {1ULL << 40U});
    make_dataset(root, "2d", plain, {2, 2});
    for (const char* name : {"variable texts", "numbers", "huge", "2d"})
        EXPECT_THROW(read_table(root, name), base::DataError) << name;
    for (const hid_t type : {text, record, plain}) H5Tclose(type);
}

TEST(OtherAttribute, OfAnotherTypeOrShapeIsRefused) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    const Group root = file.root();
    make_attribute(root, "ints", H5T_NATIVE_INT, 3);
    root.set_text("text", "x");
    root.set_double("double", 1.5);
    EXPECT_THROW(root.int_attribute("ints"), base::DataError);
    EXPECT_THROW(root.int_attribute("text"), base::DataError);
    EXPECT_THROW(root.int_attribute("double"), base::DataError);
    EXPECT_THROW(root.double_attribute("text"), base::DataError);
    EXPECT_THROW(root.text_attribute("double"), base::DataError);
    EXPECT_THROW(root.text_attribute("missing"), base::Hdf5Error);
}

TEST(OtherAttribute, OfFixedLengthIsNoTextOfOurs) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 5);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(file.root().id(), "fixed", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, "ab\0\0\0");
    EXPECT_THROW(file.root().text_attribute("fixed"), base::DataError);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

}  // namespace
}  // namespace ranklab::hdf5
