#include "data/sources/cifar100.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>

#include "base/error.hpp"
#include "data/images.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

// Pixel p of record i has the value (i + p) mod 251.
std::string record(int i, int fine) {
    std::string bytes{static_cast<char>(kCifar100Coarse[static_cast<std::size_t>(fine)]),
                      static_cast<char>(fine)};
    for (int p = 0; p < 3072; ++p) bytes += static_cast<char>((i + p) % 251);
    return bytes;
}
std::string records(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += record(i, i % 100);
    return bytes;
}

class Cifar100 : public ::testing::Test {
  protected:
    void expect_refused(const std::string& bytes, const std::string& part) {
        const auto path = folder_.write("train.bin", bytes);
        const auto sentence = tests::thrown_sentence<base::DataError>([&] { read_cifar100(path); });
        EXPECT_NE(sentence.find(path.string()), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
    }
    tests::TempFolder folder_;
};

TEST_F(Cifar100, HasFiveFineLabelsToEachCoarseOne) {
    std::array<int, 20> count{};
    for (const auto coarse : kCifar100Coarse) ++count.at(coarse);
    for (const int n : count) EXPECT_EQ(n, 5);
    EXPECT_EQ(kCifar100Coarse[0], 4) << "apples are fruit";
    EXPECT_EQ(kCifar100Coarse[99], 13) << "worms are non-insect invertebrates";
}

TEST_F(Cifar100, ReadsFineLabelsAndPlanes) {
    const auto set = read_cifar100(folder_.write("train.bin", records(101)));
    EXPECT_EQ(set.size(), 101);
    EXPECT_EQ(set.shape, (ImageShape{3, 32, 32}));
    EXPECT_EQ(set.classes, 100);
    EXPECT_EQ(set.labels[99], 99);
    EXPECT_EQ(set.labels[100], 0);
    ASSERT_EQ(set.images.size(), 101U * 3072U);
    EXPECT_EQ(set.images[0], 0) << "record 0, red";
    EXPECT_EQ(set.images[1024], 1024 % 251) << "record 0, green";
    EXPECT_EQ(set.images[3072 * 100 + 5], 105) << "record 100";
}

TEST_F(Cifar100, RefusesDamagedFiles) {
    const auto good = records(3);
    expect_refused("", "is empty");
    expect_refused(good.substr(0, good.size() - 1), "3073 bytes more");
    expect_refused(good + "x", "1 bytes more");
    auto fine = good;
    fine[3074 + 1] = 100;
    expect_refused(fine, "record 1");
    auto coarse = good;
    coarse[2 * 3074] = 20;
    expect_refused(coarse, "20 (coarse)");
    coarse[2 * 3074] = static_cast<char>((kCifar100Coarse[2] + 1) % 20);
    expect_refused(coarse, "record 2");
    const auto missing =
        tests::thrown_sentence<base::DataError>([&] { read_cifar100(folder_ / "none.bin"); });
    EXPECT_NE(missing.find("none.bin"), std::string::npos);
    const auto a_folder =
        tests::thrown_sentence<base::DataError>([&] { read_cifar100(folder_.path()); });
    EXPECT_NE(a_folder.find("folder"), std::string::npos);
}

TEST_F(Cifar100, IsFoundInTheFolderOrBelowIt) {
    const auto found = [](const std::string& directory) {
        return find_image_folder({.what = "CIFAR-100",
                                  .usual = "/nowhere",
                                  .below = {"", "cifar-100-binary"},
                                  .how_to_get = "get it",
                                  .file = "train.bin"},
                                 directory);
    };
    std::filesystem::create_directory(folder_ / "cifar-100-binary");
    folder_.write("cifar-100-binary/train.bin.gz", records(2));
    EXPECT_EQ(found(folder_.path().string()), folder_ / "cifar-100-binary");
    EXPECT_EQ(found((folder_ / "cifar-100-binary").string()), folder_ / "cifar-100-binary");
    ASSERT_EQ(::setenv("RANKLAB_DATA", folder_.path().c_str(), 1), 0);
    EXPECT_EQ(found(""), folder_ / "cifar-100-binary");
    ::unsetenv("RANKLAB_DATA");
    const auto sentence = [&](const std::string& directory) {
        return tests::thrown_sentence<base::DataError>([&] { found(directory); });
    };
    const auto none = sentence((folder_ / "none").string());
    for (const char* part : {"none/cifar-100-binary", "CIFAR-100", "train.bin", "get it"})
        EXPECT_NE(none.find(part), std::string::npos) << none;
    EXPECT_EQ(none.find("/nowhere"), std::string::npos) << none;
    EXPECT_NE(sentence("").find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace ranklab::data
