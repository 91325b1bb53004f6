#include "base/files.hpp"

#include <gtest/gtest.h>

#include "temp_folder.hpp"

namespace ranklab::base {
namespace {

TEST(FileSystemAt, TmpfsIsNamed) {
    const auto here = file_system_at("/dev/shm");
    if (here.name == "unknown") GTEST_SKIP() << "there is no /dev/shm here";
    EXPECT_EQ(here.name, "tmpfs");
    EXPECT_EQ(here.kind, FileSystemKind::memory);
}

TEST(FileSystemAt, ProcHoldsNoFilesOfUsers) {
    EXPECT_EQ(file_system_at("/proc").kind, FileSystemKind::other);
    EXPECT_EQ(file_system_at("/proc").name, "proc");
}

TEST(FileSystemAt, OfWhatIsNotThereIsThatOfTheNearestFolderThatIs) {
    const tests::TempFolder folder;
    EXPECT_EQ(file_system_at(folder / "not/yet/there.h5").name, file_system_at(folder.path()).name);
    EXPECT_NE(file_system_at("relative.h5").name, "unknown");
    EXPECT_EQ(file_system_at("/proc/self").name, "proc");
}

}  // namespace
}  // namespace ranklab::base
