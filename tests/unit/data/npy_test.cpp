#include "data/sources/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/element.hpp"
#include "base/error.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

std::string npy(const std::string& dictionary, const std::string& values, char version = 1) {
    std::string text = "\x93NUMPY";
    text += {version, '\0'};
    const std::size_t length = dictionary.size();
    for (int byte = 0; byte < 2; ++byte) text += static_cast<char>(length >> (8 * byte) & 0xFFU);
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
        const auto sentence =
            tests::thrown_sentence<base::DataError>([&] { open_npy_rows(path.string()); });
        EXPECT_NE(sentence.find("x.npy"), std::string::npos) << sentence;
        return sentence;
    }
    tests::TempFolder folder_;
};

TEST_F(Npy, ReadsEachType) {
    const auto read = [&](const std::string& bytes) {
        const auto rows = open_npy_rows(folder_.write("a.npy", bytes).string());
        std::vector<float> values(rows.shape[0]);
        for (std::size_t i = 0; i < values.size(); ++i)
            rows.read(static_cast<std::int64_t>(i), base::Element::f32,
                      reinterpret_cast<std::byte*>(&values[i]));
        return values;
    };
    EXPECT_EQ(read(npy(dictionary("<f4", "(2,)"), bytes_of<float>({4, 5}))),
              (std::vector<float>{4, 5}));
    EXPECT_EQ(read(npy(dictionary("<f8", "(3,)"), bytes_of<double>({0.5, -1, 1e-3}))),
              (std::vector<float>{0.5F, -1.0F, 1e-3F}));
    EXPECT_EQ(read(npy(dictionary("|u1", "(3,)"), bytes_of<std::uint8_t>({0, 7, 255}))),
              (std::vector<float>{0, 7, 255}));
}

TEST_F(Npy, KeepsDoublePrecision) {
    const auto rows = open_npy_rows(
        folder_.write("a.npy", npy(dictionary("<f8", "(1,)"), bytes_of<double>({0.1}))).string());
    double value = 0;
    rows.read(0, base::Element::f64, reinterpret_cast<std::byte*>(&value));
    EXPECT_EQ(value, 0.1);
}

TEST_F(Npy, OfFortranOrderIsRefused) {
    const auto path =
        folder_.write("f.npy", npy(dictionary("<f4", "(1, 2)", "True"), std::string(8, '\0')));
    EXPECT_THROW(open_npy_rows(path.string()), base::DataError);
}

TEST_F(Npy, WritesTheHeaderItReads) {
    const std::vector<std::int64_t> shape{4, 5, 6, 7};
    const std::string header = base::npy_header("<f4", shape);
    EXPECT_EQ(header.size() % 64, 0U);
    const auto found = open_npy_rows(
        folder_.write("h.npy", header + std::string(4 * 5 * 6 * 7 * 4, '\0')).string());
    EXPECT_EQ(found.shape, shape);
    EXPECT_EQ(open_npy_rows(folder_.write("i.npy", base::npy_header("<f4", {0})).string()).shape,
              std::vector<std::int64_t>{0});
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
    EXPECT_NE(refusal("").find("NUMPY"), std::string::npos);
    EXPECT_NE(refusal("<html>404</html>").find("NUMPY"), std::string::npos);
    EXPECT_NE(refusal(npy(dictionary("<f4", "(1,)"), "0000", 9)).find("version 9"),
              std::string::npos);
    EXPECT_NE(tests::thrown_sentence<base::DataError>([&] {
                  open_npy_rows((folder_ / "none.npy").string());
              }).find("cannot be opened"),
              std::string::npos);
    EXPECT_NE(tests::thrown_sentence<base::DataError>([&] {
                  open_npy_rows(folder_.path().string());
              }).find("folder"),
              std::string::npos);
}

TEST_F(Npy, RefusesValuesThatAreMissingOrTooMany) {
    const std::string head = dictionary("<f4", "(2,)");
    EXPECT_NE(refusal(npy(head, std::string(7, '\0'))).find("truncated"), std::string::npos);
    EXPECT_NE(refusal(npy(head, std::string(9, '\0'))).find("9 bytes"), std::string::npos);
    EXPECT_NE(refusal(npy(head, "").substr(0, 40)).find("truncated"), std::string::npos)
        << "in the header";
    std::string huge = npy(head, "");
    huge[9] = '\x7f';  // a header of 32 KiB
    EXPECT_NE(refusal(huge).find("32"), std::string::npos);
}

TEST_F(Npy, RefusesHostileHeaders) {
    for (const char* shape :
         {"(4611686018427387904, 16)", "(1000000000000,)", "(99999999999999999999999,)", "(-1,)",
          "(2.5,)", "(1 2)", "(", "2", "('a',)"})
        EXPECT_NE(refusal(npy(dictionary("<f4", shape), "0000")), "") << shape;
    EXPECT_NE(refusal(npy(dictionary("<f4", "(0, 9223372036854775808)"), "")).find("shape"),
              std::string::npos);
    for (const char* descr : {">f4", "<i3", "<c8", "O", "", "<U3"})
        EXPECT_NE(refusal(npy(dictionary(descr, "(1,)"), "0000")).find("type"), std::string::npos)
            << descr;
    for (const char* descr : {"O", "|S3", "<U3", "<M8[s]"})
        EXPECT_NE(refusal(npy(dictionary(descr, "(1,)"), "0000")).find("not numbers"),
                  std::string::npos)
            << descr << ": no conversion would help";
    for (const char* text :
         {"", "\n", "{", "{}", "[1]", "{'shape': (1,), }", "{'descr': '<f4",
          "{'descr': [('a', '<f4')], }",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"})
        EXPECT_NE(refusal(npy(text, "0000")), "") << text;
}

}  // namespace
}  // namespace ranklab::data
