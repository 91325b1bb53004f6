#include "data/formats/npy.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "base/npy_header.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

std::string npy(int major, const std::string& dictionary, const std::string& values) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(major);
    text += '\0';
    const std::size_t length = dictionary.size();
    for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte)
        text += static_cast<char>(length >> (8 * byte) & 0xFFU);
    return text + dictionary + values;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const char* fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape +
           ", }          \n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

class Npy : public ::testing::Test {
  protected:
    std::string refusal(const std::string& bytes) {
        const auto path = folder_.write("x.npy", bytes);
        const auto sentence = tests::thrown_sentence<base::DataError>([&] { NpyFile file(path); });
        EXPECT_NE(sentence.find("x.npy"), std::string::npos) << sentence;
        return sentence;
    }
    tests::TempFolder folder_;
};

TEST_F(Npy, ReadsEachVersionAndType) {
    for (const int version : {1, 2, 3}) {
        const NpyFile file(folder_.write("a.npy", npy(version, dictionary("<f4", "(2, 3)"),
                                                      bytes_of<float>({1, 2, 3, 4, 5, 6}))));
        EXPECT_EQ(file.header().shape, (std::vector<std::int64_t>{2, 3}));
        std::vector<float> values(2);
        file.read(3, values);
        EXPECT_EQ(values, (std::vector<float>{4, 5})) << "version " << version;
    }
    std::vector<float> values(3);
    NpyFile(folder_.write("b.npy",
                          npy(1, dictionary("<f8", "(3,)"), bytes_of<double>({0.5, -1, 1e-3}))))
        .read(0, values);
    EXPECT_EQ(values, (std::vector<float>{0.5F, -1.0F, 1e-3F}));
    NpyFile(folder_.write("c.npy",
                          npy(1, dictionary("|u1", "(3,)"), bytes_of<std::uint8_t>({0, 7, 255}))))
        .read(0, values);
    EXPECT_EQ(values, (std::vector<float>{0, 7, 255}));
}

TEST_F(Npy, OfFortranOrderIsRefused) {
    const auto path =
        folder_.write("f.npy", npy(1, dictionary("<f4", "(1, 2)", "True"), std::string(8, '\0')));
    EXPECT_THROW(NpyFile{path}, base::DataError);
}

TEST_F(Npy, WritesTheHeaderItReads) {
    const std::vector<std::int64_t> shape{4, 5, 6, 7};
    const std::string header = base::npy_header("<f4", shape);
    EXPECT_EQ(header.size() % 64, 0U);
    const NpyFile file(folder_.write("h.npy", header + std::string(4 * 5 * 6 * 7 * 4, '\0')));
    EXPECT_EQ(file.header().shape, shape);
    EXPECT_EQ(file.header().data_offset, header.size());
    EXPECT_EQ(parse_npy_dictionary(base::npy_header("<f4", {3}).substr(10), "x").shape,
              std::vector<std::int64_t>{3});
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
    EXPECT_NE(refusal("").find("not an npy file"), std::string::npos);
    EXPECT_NE(refusal("<html>404</html>").find("not an npy file"), std::string::npos);
    EXPECT_NE(refusal(npy(9, dictionary("<f4", "(1,)"), "0000")).find("version 9"),
              std::string::npos);
    EXPECT_NE(tests::thrown_sentence<base::DataError>([&] {
                  NpyFile file(folder_ / "none.npy");
              }).find("cannot be opened"),
              std::string::npos);
    EXPECT_NE(tests::thrown_sentence<base::DataError>([&] {
                  NpyFile file(folder_.path());
              }).find("is a folder, not a regular file"),
              std::string::npos);
}

TEST_F(Npy, RefusesValuesThatAreMissingOrTooMany) {
    const std::string head = dictionary("<f4", "(2,)");
    EXPECT_NE(refusal(npy(1, head, std::string(7, '\0'))).find("truncated"), std::string::npos);
    EXPECT_NE(refusal(npy(1, head, std::string(9, '\0'))).find("9 bytes are there"),
              std::string::npos);
    EXPECT_NE(refusal(npy(2, head, "").substr(0, 40)).find("truncated"), std::string::npos)
        << "in the header";
    std::string huge = npy(2, head, "");
    huge[11] = '\x7f';  // a header of 2 GiB
    EXPECT_NE(refusal(huge).find("header claims"), std::string::npos);
}

TEST_F(Npy, RefusesHostileHeaders) {
    for (const char* shape :
         {"(4611686018427387904, 16)", "(1000000000000,)", "(99999999999999999999999,)", "(-1,)",
          "(2.5,)", "(1 2)", "(", "2", "('a',)"})
        EXPECT_NE(refusal(npy(1, dictionary("<f4", shape), "0000")), "") << shape;
    EXPECT_NE(refusal(npy(1, dictionary("<f4", "(0, 9223372036854775808)"), "")).find("shape"),
              std::string::npos);
    for (const char* descr : {">f4", "<i3", "<c8", "O", "", "<U3"})
        EXPECT_NE(refusal(npy(1, dictionary(descr, "(1,)"), "0000")).find("type"),
                  std::string::npos)
            << descr;
    for (const char* text :
         {"", "\n", "{", "{}", "[1]", "{'shape': (1,), }", "{'descr': '<f4",
          "{'descr': [('a', '<f4')], }",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"})
        EXPECT_NE(refusal(npy(1, text, "0000")), "") << text;
}

TEST_F(Npy, SaysWhenTheFileShrinksUnderIt) {
    const auto path =
        folder_.write("s.npy", npy(1, dictionary("<f4", "(100,)"), std::string(400, '\0')));
    const NpyFile file(path);
    std::filesystem::resize_file(path, 200);
    std::vector<float> values(100);
    EXPECT_NE(tests::thrown_sentence<base::DataError>([&] {
                  file.read(0, values);
              }).find("cannot be read to its end"),
              std::string::npos);
}

}  // namespace
}  // namespace ranklab::data
