#include "io/folder_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;

fs::path new_folder() {
    std::string name = (fs::temp_directory_path() / "ranklab-folder-watch-XXXXXX").string();
    return mkdtemp(name.data());
}

// Stands for a rank that waits inside MPI-IO and would not come back; should nothing end it, it says so.
void wait_in_vain(const fs::path& folder) {
    const FolderWatch watch(folder, 0.5);
    fs::remove(folder);
    std::this_thread::sleep_for(std::chrono::seconds(30));
    std::_Exit(77);
}

TEST(FolderWatchDeath, AFolderThatVanishesEndsTheProcessWithASentence) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const fs::path folder = new_folder();
    EXPECT_EXIT(wait_in_vain(folder), testing::ExitedWithCode(5), "vanished while a file was made in it");
    fs::remove(folder);
}

TEST(FolderWatch, LetsAFolderBeThatIsThere) {
    const fs::path folder = new_folder();
    {
        const FolderWatch watch(folder, 0.5);
        std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    }
    fs::remove(folder);
}

}  // namespace
}  // namespace ranklab::io
