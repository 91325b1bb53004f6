// A file that a user names is opened without waiting and without going anywhere else.
#include "base/files.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "base/error.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::base {
namespace {

namespace fs = std::filesystem;
using tests::TempFolder;
using tests::thrown_sentence;

void write(const fs::path& path, const std::string& text) {
    const auto file = open_regular<OptionError>(path, O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT_TRUE(file);
    ASSERT_TRUE(write_whole(file.get(), text));
}

std::string read(const fs::path& path, std::size_t most = 1 << 20) {
    std::string text;
    EXPECT_TRUE(read_up_to(open_regular<OptionError>(path, O_RDONLY), most, text));
    return text;
}

void make_socket(const fs::path& path) {
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

struct Kind {
    const char* name;
    const char* said;
    std::function<void(const fs::path&)> make;
};

class Irregular : public testing::TestWithParam<Kind> {};

// An alarm ends the test, should it wait.
TEST_P(Irregular, IsRefusedAtOnceByItsName) {
    const TempFolder folder;
    GetParam().make(folder / "x");
    ::alarm(30);
    for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC}) {
        const auto sentence = thrown_sentence<DataError>(
            [&] { static_cast<void>(open_regular<DataError>(folder / "x", flags)); });
        EXPECT_NE(sentence.find((folder / "x").string() + " is " + GetParam().said),
                  std::string::npos)
            << sentence;
    }
    ::alarm(0);
    EXPECT_FALSE(fs::exists(folder / "target")) << "what a link leads to was made";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Irregular,
    testing::Values(
        Kind{"fifo", "a FIFO", [](const fs::path& p) { ASSERT_EQ(::mkfifo(p.c_str(), 0666), 0); }},
        Kind{"folder", "a folder", [](const fs::path& p) { fs::create_directory(p); }},
        Kind{"socket", "a socket", make_socket},
        Kind{"zero", "a device", [](const fs::path& p) { fs::create_symlink("/dev/zero", p); }},
        Kind{"dangling", "a link to nothing",
             [](const fs::path& p) { fs::create_symlink(p.parent_path() / "target", p); }},
        Kind{"circle", "a link in a circle", [](const fs::path& p) { fs::create_symlink(p, p); }},
        Kind{"link_to_fifo", "a FIFO",
             [](const fs::path& p) {
                 ASSERT_EQ(::mkfifo((p.string() + ".fifo").c_str(), 0666), 0);
                 fs::create_symlink(p.string() + ".fifo", p);
             }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(RegularFile, IsReadAndWritten) {
    const TempFolder folder;
    write(folder / "x", "some text");
    EXPECT_EQ(read(folder / "x"), "some text");
    EXPECT_EQ(read(folder / "x", 4), "some");
    write(folder / "x", "");
    EXPECT_EQ(read(folder / "x"), "");
}

TEST(RegularFile, ALinkIsFollowedWhereItMay) {
    const TempFolder folder;
    write(folder / "x", "text");
    fs::create_symlink("x", folder / "link");
    EXPECT_EQ(read(folder / "link"), "text");
}

TEST(RegularFile, WhatIsMissingIsTheSystemsToTell) {
    const TempFolder folder;
    const auto file = open_regular<DataError>(folder / "x", O_RDONLY);
    EXPECT_FALSE(file);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(irregular_kind(folder / "x"), "");
}

}  // namespace
}  // namespace ranklab::base
