#include "app/libtorch_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "temp_folder.hpp"

namespace ranklab::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class LibtorchPlaceTest : public ::testing::Test {
  protected:
    // As ldd shows a program that takes LibTorch from the folder, and whatever else is said.
    std::string loader(const std::string& more = "") const {
        return "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibtorch_cpu.so => " +
               (root() / "lib/libtorch_cpu.so").string() + " (0x00007f)\n" + more;
    }
    void says(const std::string& file, const std::string& text) const {
        std::ofstream(root() / file) << text << '\n';
    }
    std::filesystem::path root() const { return folder_.path(); }

  private:
    tests::TempFolder folder_;
};

TEST_F(LibtorchPlaceTest, AWheelAndAnUnpackedOneSayTheirVersion) {
    EXPECT_EQ(libtorch_version(root()), "");
    says("build-version", "2.11.0+cpu");
    EXPECT_EQ(libtorch_version(root()), "2.11.0+cpu");
    says("version.py", "from typing import Optional\n__version__ = '2.11.0+cu130'\ndebug = False");
    EXPECT_EQ(libtorch_version(root()), "2.11.0+cu130");
}

TEST_F(LibtorchPlaceTest, OneOfTheSameMinorVersionServes) {
    says("build-version", "2.11.3+cpu");
    const auto place = read_loader(loader(), "2.11.0");
    EXPECT_TRUE(place.usable);
    EXPECT_EQ(place.text, "2.11.3+cpu in " + root().string());
}

TEST_F(LibtorchPlaceTest, AnotherVersionIsNamed) {
    says("build-version", "2.1.2");
    const auto place = read_loader(loader(), "2.11.0");
    EXPECT_FALSE(place.usable);
    EXPECT_THAT(place.text, StartsWith("2.1.2 in "));
    EXPECT_THAT(place.text, HasSubstr("2.11.0"));
    EXPECT_THAT(place.text, HasSubstr("RANKLAB_TORCH_ROOT"));
}

TEST_F(LibtorchPlaceTest, WhatItNeedsAndLacksIsNamed) {
    says("build-version", "2.11.0");
    const auto place = read_loader(loader("\tlibcudnn.so.9 => not found\n"), "2.11.0");
    EXPECT_FALSE(place.usable);
    EXPECT_THAT(place.text, HasSubstr("libcudnn.so.9"));
}

TEST_F(LibtorchPlaceTest, NoneIsSaid) {
    for (const char* said :
         {"\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n", "\tlibtorch_cpu.so => not found\n"}) {
        const auto place = read_loader(said, "2.11.0");
        EXPECT_FALSE(place.usable);
        EXPECT_THAT(place.text, StartsWith("not found"));
    }
}

TEST_F(LibtorchPlaceTest, WhereTheLoaderCannotBeAskedNothingIsClaimed) {
    EXPECT_TRUE(read_loader("", "2.11.0").usable);
    EXPECT_THAT(read_loader("", "2.11.0").text, StartsWith("not known"));
}

}  // namespace
}  // namespace ranklab::app
