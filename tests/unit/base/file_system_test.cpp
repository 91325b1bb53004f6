#include "base/file_system.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "temp_folder.hpp"

namespace ranklab::base {
namespace {

TEST(FileSystemAt, TmpfsIsNamed) {
    const auto here = file_system_at("/dev/shm");
    if (here.name == "unknown") GTEST_SKIP() << "there is no /dev/shm here";
    EXPECT_EQ(here.name, "tmpfs");
    EXPECT_EQ(here.kind, FileSystemKind::memory);
}

TEST(FileSystemAt, AnOpenFileHasThatOfItsPath) {
    for (const char* place : {"/proc", "/dev/shm", "/"}) {
        const Descriptor open(::open(place, O_RDONLY | O_CLOEXEC));
        EXPECT_EQ(file_system_of(open.get()).name, file_system_at(place).name) << place;
    }
    EXPECT_EQ(file_system_at("/proc").kind, FileSystemKind::other);
    EXPECT_EQ(file_system_at("/proc").name, "proc");
}

TEST(FileSystemAt, WhatIsNotThereIsUnknown) {
    const tests::TempFolder folder;
    EXPECT_EQ(file_system_at(folder / "missing").name, "unknown");
    EXPECT_EQ(file_system_of(-1).name, "unknown");
}

}  // namespace
}  // namespace ranklab::base
