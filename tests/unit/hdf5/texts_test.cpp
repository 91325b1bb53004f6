// Texts of variable length in files of others: whatever their bytes are, and wherever their heaps claim to
// lie.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "hdf5/contents.hpp"
#include "hdf5/file.hpp"
#include "unit/hdf5/scratch.hpp"

namespace ranklab::hdf5 {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A file of one attribute, of the oldest form: without checksums, so that any change reaches the reader.
void make_file(const std::filesystem::path& path, const std::string& text, hsize_t user_block = 0) {
    library_version();
    const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(properties, user_block);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
    H5Pclose(properties);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file, "text", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const char* pointer = text.c_str();
    H5Awrite(attribute, type, static_cast<const void*>(&pointer));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
}

std::string text_in(const std::filesystem::path& path) {
    const File file = File::open_to_read(path);
    return file.root().text_attribute("text");
}

TEST(Texts, ThatLookLikePartsOfHdf5AreTexts) {
    const Scratch scratch;
    for (const char* signature : {"\x89HDF\r\n\x1a\n", "GCOL\x01", "OHDR", "OCHK", "TREE", "HEAP", "SNOD",
                                  "FRHP", "FHDB", "FHIB", "BTHD", "BTIN", "BTLF", "SMTB", "FADB"}) {
        for (const std::size_t length : {0U, 1U, 5000U}) {
            const std::string text = signature + std::string(length, '\x01');
            make_file(scratch.file(), text);
            EXPECT_EQ(text_in(scratch.file()), text);
        }
    }
}

TEST(Texts, BehindAUserBlockAreFound) {
    const Scratch scratch;
    make_file(scratch.file(), "behind", 1024);
    EXPECT_EQ(text_in(scratch.file()), "behind");
}

TEST(Texts, EndAtTheirFirstNulAndMayBeAnyOtherByte) {
    const Scratch scratch;
    std::string all;
    for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
    make_file(scratch.file(), all);
    EXPECT_EQ(text_in(scratch.file()), all);
    File file = File::create(scratch.file());
    file.root().set_text("text", std::string("ab\0cd", 5));
    file.close();
    EXPECT_EQ(text_in(scratch.file()), "ab");
}

class DamagedHeap : public ::testing::Test {
  protected:
    DamagedHeap() {
        make_file(scratch_.file(), "some text");
        good_ = bytes_of(scratch_.file());
        heap_ = good_.find("GCOL");
        reference_ = good_.find(std::string("\x09\0\0\0", 4) + address_bytes());
    }
    std::string address_bytes() const {
        const std::uint64_t address = heap_;
        return {reinterpret_cast<const char*>(&address), sizeof address};
    }
    template <class T>
    void expect_refused(std::size_t at, T value) {
        std::string bytes = good_;
        std::memcpy(bytes.data() + at, &value, sizeof value);
        std::ofstream(scratch_.file(), std::ios::binary) << bytes;
        EXPECT_THROW(text_in(scratch_.file()), base::DataError) << "at " << at << " value " << value;
        EXPECT_THROW(contents_of(File::open_to_read(scratch_.file()).root()), base::DataError) << at;
    }
    Scratch scratch_;
    std::string good_;
    std::size_t heap_ = 0;
    std::size_t reference_ = 0;
};

TEST_F(DamagedHeap, OfAnyKindIsADamagedFile) {
    ASSERT_NE(heap_, std::string::npos);
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 20U, ~std::uint64_t{0}})
        expect_refused(heap_ + 8, value);  // the heap's size
    for (const std::uint64_t value : {std::uint64_t{5000}, ~std::uint64_t{0}, ~std::uint64_t{0} - 7})
        expect_refused(heap_ + 24, value);  // the first object's size
    expect_refused(heap_ + 16, std::uint16_t{0xffff});
    expect_refused(heap_, std::uint32_t{0});
}

// The library copies an object of the heap's size into room of the reference's: out of its memory.
TEST_F(DamagedHeap, AReferenceThatDisagreesWithItIsADamagedFile) {
    ASSERT_NE(reference_, std::string::npos);
    for (const std::uint32_t length : {10U, 4000U, 0xffffffffU}) expect_refused(reference_, length);
    for (const std::uint64_t address : {std::uint64_t{8}, good_.size() - 1, good_.size(), ~std::uint64_t{0}})
        expect_refused(reference_ + 4, address);
    for (const std::uint32_t index : {0U, 2U, 0x10001U, ~0U}) expect_refused(reference_ + 12, index);
}

// More than eight lie in a tree of their own, as h5py makes them, too.
TEST(Texts, OfManyAttributesAreCopied) {
    const Scratch scratch;
    const auto to = scratch.file().parent_path() / "to.h5";
    File file = File::create(scratch.file());
    const Group group = file.root().create_large_group("group");
    const Group inner = group.create_large_group("inner");
    for (int i = 0; i < 20; ++i) {
        group.set_text(std::to_string(i), "text " + std::to_string(i));
        inner.set_text(std::to_string(i), "inner " + std::to_string(i));
    }
    file.close();
    const File from = File::open_to_read(scratch.file());
    File made = File::create(to);
    copy_group(from.root(), "group", made.root(), "copy");
    made.close();
    const File copied = File::open_to_read(to);
    EXPECT_EQ(contents_of(copied.root().open_group("copy")).bytes,
              contents_of(from.root().open_group("group")).bytes);
}

// 30,000 texts, each the same 64 KiB: 2 GB out of 0.5 MB.
TEST(Texts, OfASmallFileDoNotFillTheMemory) {
    const Scratch scratch;
    File file = File::create(scratch.file());
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hsize_t n = 30000;
    const hid_t space = H5Screate_simple(1, &n, nullptr);
    const Group root = file.root();
    const hid_t dataset = H5Dcreate2(root.id(), "texts", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::string text(65536, 'x');
    std::vector<const char*> one(n, "");
    one[0] = text.c_str();
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(one.data()));
    const auto begin = static_cast<std::size_t>(H5Dget_offset(dataset));
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    file.close();
    std::string bytes = bytes_of(scratch.file());
    for (std::size_t i = 1; i < n; ++i) std::memcpy(bytes.data() + begin + 16 * i, bytes.data() + begin, 16);
    std::ofstream(scratch.file(), std::ios::binary) << bytes;
    const File again = File::open_to_read(scratch.file());
    EXPECT_THROW(contents_of(again.root()), base::DataError);
}

}  // namespace
}  // namespace ranklab::hdf5
