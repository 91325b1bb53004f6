#include "data/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.hpp"
#include "idx_files.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::int64_t peak_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

class Idx : public ::testing::Test {
  protected:
    /// The sentence with which these bytes are refused as images; it names the file.
    std::string refused_images(const std::string& bytes) {
        const auto file = folder_.write("images", bytes);
        const auto sentence =
            tests::thrown_sentence<base::DataError>([&] { read_idx_images(file); });
        EXPECT_THAT(sentence, HasSubstr(file.string()));
        return sentence;
    }
    std::string refused_labels(const std::string& bytes) {
        const auto file = folder_.write("labels", bytes);
        const auto sentence =
            tests::thrown_sentence<base::DataError>([&] { read_idx_labels(file); });
        EXPECT_THAT(sentence, HasSubstr(file.string()));
        return sentence;
    }
    std::string refused_set(const std::string& images, const std::string& labels) {
        folder_.write("images", images);
        folder_.write("labels", labels);
        return tests::thrown_sentence<base::DataError>(
            [&] { read_idx_set(folder_ / "images", folder_ / "labels", 10); });
    }

    tests::TempFolder folder_;
};

void expect_counting_images(const ImageSet& images) {
    EXPECT_EQ(images.images.size(), 5U * 28 * 27);
    EXPECT_EQ(images.shape, (ImageShape{1, 28, 27}));
    const auto expected = counting_bytes(5 * 28 * 27);
    EXPECT_EQ(std::string(images.images.begin(), images.images.end()), expected);
}

TEST_F(Idx, ReadsPlainAndGzippedAlike) {
    const auto bytes = image_file(5, 28, 27);
    expect_counting_images(read_idx_images(folder_.write("plain", bytes)));
    expect_counting_images(read_idx_images(folder_.write("packed.gz", gzipped(folder_, bytes))));
    // The bytes tell what it is, not the name.
    expect_counting_images(read_idx_images(folder_.write("plain.gz", bytes)));

    const std::vector<std::uint8_t> labels{0, 1, 2, 0, 1};
    EXPECT_EQ(read_idx_labels(folder_.write("labels", label_file(5, 3))), labels);
    EXPECT_EQ(read_idx_labels(folder_.write("labels.gz", gzipped(folder_, label_file(5, 3)))),
              labels);
}

TEST_F(Idx, ReadsMoreThanOnePiece) {
    const auto images = read_idx_images(
        folder_.write("large", image_file(6000, 28, 28)));  // 4.7 MB in pieces of 4 MiB
    EXPECT_EQ(images.images.size(), 6000U * 28 * 28);
    EXPECT_EQ(images.images.back(), (6000U * 28 * 28 - 1) % 256);
}

TEST_F(Idx, WhatIsNoFile) {
    const auto refused = [](const std::filesystem::path& path) {
        return tests::thrown_sentence<base::DataError>([&] { read_idx_images(path); });
    };
    EXPECT_THAT(refused(folder_ / "missing"), HasSubstr("missing"));
    EXPECT_THAT(refused(folder_.path()), HasSubstr(folder_.path().string()));
}

TEST_F(Idx, AFileThatMayNotBeRead) {
    if (::geteuid() == 0) GTEST_SKIP() << "root reads every file";
    const auto file = folder_.write("secret", image_file(1, 2, 2));
    std::filesystem::permissions(file, std::filesystem::perms::none);
    EXPECT_THAT(tests::thrown_sentence<base::DataError>([&] { read_idx_images(file); }),
                HasSubstr("permissions"));
}

TEST_F(Idx, ATruncatedHeader) {
    const auto whole = image_file(2, 3, 3);
    for (const std::size_t length : {0U, 1U, 3U, 4U, 7U, 8U, 15U}) {
        EXPECT_THAT(refused_images(whole.substr(0, length)), HasSubstr("too short"))
            << length << " bytes";
    }
    for (const std::size_t length : {0U, 4U, 7U}) {
        EXPECT_THAT(refused_labels(label_file(4, 2).substr(0, length)), HasSubstr("too short"))
            << length << " bytes";
    }
}

TEST_F(Idx, ATruncatedBody) {
    const auto whole = image_file(2, 3, 3);
    EXPECT_THAT(refused_images(whole.substr(0, whole.size() - 1)),
                AllOf(HasSubstr("truncated"), HasSubstr("18 bytes"), HasSubstr("17")));
    EXPECT_THAT(refused_images(whole.substr(0, 16)),
                AllOf(HasSubstr("truncated"), HasSubstr("holds 0")));
    EXPECT_THAT(refused_labels(label_file(4, 2).substr(0, 9)), HasSubstr("truncated"));
}

TEST_F(Idx, TrailingBytes) {
    EXPECT_THAT(refused_images(image_file(2, 3, 3) + "x"), AllOf(HasSubstr("18"), HasSubstr("19")));
    EXPECT_THAT(refused_labels(label_file(4, 2) + '\0'),
                AllOf(HasSubstr("4 bytes"), HasSubstr("5")));
    EXPECT_THAT(refused_images(gzipped(folder_, image_file(2, 3, 3) + "x")),
                AllOf(HasSubstr("18"), HasSubstr("19")));
}

TEST_F(Idx, AWrongMagicSaysWhatItIsAndShouldBe) {
    EXPECT_THAT(refused_images(label_file(400, 10)),
                AllOf(HasSubstr("0x00000801"), HasSubstr("0x00000803")));
    EXPECT_THAT(refused_labels(image_file(2, 3, 3)), HasSubstr("0x00000803"));
    EXPECT_THAT(refused_images("\x89HDF\r\n\x1a\n and so on"), HasSubstr("0x89484446"));
    EXPECT_THAT(refused_images(std::string(100, '\0')), HasSubstr("0x00000000"));
}

TEST_F(Idx, NoImagesAtAll) {
    EXPECT_THAT(refused_images(image_file(0, 28, 28)),
                AllOf(HasSubstr("0 images"), HasSubstr("28 x 28")));
    EXPECT_THAT(refused_images(image_file(3, 0, 28)),
                AllOf(HasSubstr("3 images"), HasSubstr("0 x 28")));
    EXPECT_THAT(refused_set(image_file(2, 28, 28), label_file(0, 1)),
                AllOf(HasSubstr("2 images"), HasSubstr("0 labels")));
}

// A header of 16 bytes may claim 16 EiB: memory must grow with the file, not with the claim.
TEST_F(Idx, AHugeClaimDoesNotAllocate) {
    const auto before = peak_bytes();
    constexpr std::uint32_t kMost = 0xFFFFFFFF;
    EXPECT_THAT(refused_images(big_endian(0x803) + big_endian(kMost) + big_endian(65535) +
                               big_endian(65535) + "tiny"),
                HasSubstr("truncated"));
    EXPECT_THAT(refused_images(big_endian(0x803) + big_endian(kMost) + big_endian(kMost) +
                               big_endian(kMost) + "tiny"),
                HasSubstr("4294967295 x 4294967295"));
    EXPECT_THAT(refused_labels(big_endian(0x801) + big_endian(kMost) + "tiny"),
                HasSubstr("truncated"));
    // 2^32 x 2^16 x 2^16 would be 0 in 64 bits.
    EXPECT_THAT(
        refused_images(big_endian(0x803) + big_endian(1) + big_endian(65536) + big_endian(65536)),
        HasSubstr("65536 x 65536"));
    EXPECT_LT(peak_bytes() - before, std::int64_t{64} << 20);
}

TEST_F(Idx, CountsThatDiffer) {
    EXPECT_THAT(refused_set(image_file(4, 28, 28), label_file(5, 5)),
                AllOf(HasSubstr("4 images"), HasSubstr("5 labels")));
}

TEST_F(Idx, ALabelOutOfRange) {
    EXPECT_THAT(refused_set(image_file(12, 28, 28), label_file(12, 11)),
                AllOf(HasSubstr("label 10"), HasSubstr("0..9")));
    EXPECT_EQ(read_idx_set(folder_.write("images", image_file(10, 28, 28)),
                           folder_.write("labels", label_file(10, 10)), 10)
                  .size(),
              10);
}

TEST_F(Idx, ADamagedGzipFile) {
    const auto whole = gzipped(folder_, image_file(20, 28, 28));
    auto flipped = whole;
    flipped[flipped.size() / 2] = static_cast<char>(~flipped[flipped.size() / 2]);
    EXPECT_THAT(refused_images(flipped), HasSubstr("images"));
    auto wrong_sum = whole;
    wrong_sum[wrong_sum.size() - 6] = static_cast<char>(~wrong_sum[wrong_sum.size() - 6]);
    EXPECT_THAT(refused_images(wrong_sum), HasSubstr("images"));
    for (const std::size_t lost : {1U, 8U, 40U}) {
        EXPECT_THAT(refused_images(whole.substr(0, whole.size() - lost)), HasSubstr("images"))
            << lost << " bytes lost";
    }
}

class IdxFolder : public Idx {
  protected:
    void fill(const std::string& ending) {
        const auto form = [&](const std::string& bytes) {
            return ending.empty() ? bytes : gzipped(folder_, bytes);
        };
        folder_.write("train-images-idx3-ubyte" + ending, form(image_file(6, 28, 28)));
        folder_.write("train-labels-idx1-ubyte" + ending, form(label_file(6, 3)));
        folder_.write("t10k-images-idx3-ubyte" + ending, form(image_file(2, 28, 28)));
        folder_.write("t10k-labels-idx1-ubyte" + ending, form(label_file(2, 3)));
    }
};

TEST_F(IdxFolder, HoldsFourFilesPlainOrGzipped) {
    for (const std::string ending : {".gz", ""}) {
        fill(ending);
        const auto sets = read_idx_folder(folder_.path(), {1, 28, 28}, 10);
        EXPECT_EQ(sets.train.size(), 6);
        EXPECT_EQ(sets.test.size(), 2);
        EXPECT_EQ(sets.train.images.size(), 6U * 28 * 28);
        EXPECT_EQ(sets.origin, folder_.path().string());
    }
}

TEST_F(IdxFolder, WithoutAnEvaluationTheTestImagesAreNotRead) {
    fill(".gz");
    std::filesystem::remove(folder_ / "t10k-images-idx3-ubyte.gz");
    const auto sets = read_idx_folder(folder_.path(), {1, 28, 28}, 10, false);
    EXPECT_EQ(sets.train.images.size(), 6U * 28 * 28);
    EXPECT_EQ(sets.test.size(), 2);
    EXPECT_TRUE(sets.test.images.empty());
}

TEST_F(IdxFolder, AnotherShapeThanTheModels) {
    fill("");
    EXPECT_THAT(tests::thrown_sentence<base::DataError>([&] {
                    read_idx_folder(folder_.path(), {1, 32, 28}, 10);
                }),
                AllOf(HasSubstr("28 x 28"), HasSubstr("32 x 28")));
}

TEST_F(IdxFolder, AMissingFileIsNamed) {
    fill("");
    std::filesystem::remove(folder_ / "t10k-labels-idx1-ubyte");
    EXPECT_THAT(tests::thrown_sentence<base::DataError>([&] {
                    read_idx_folder(folder_.path(), {1, 28, 28}, 10);
                }),
                HasSubstr("t10k-labels-idx1-ubyte"));
}

}  // namespace
}  // namespace ranklab::data
