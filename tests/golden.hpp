// Outputs that are compared whole, with the files in tests/golden. RANKLAB_BLESS=1 stores what is
// printed now in their place; read the change with git diff before it is committed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ranklab::tests {

inline void expect_golden(const std::string& name, const std::string& text) {
    const auto file = std::filesystem::path(RANKLAB_TESTS_SOURCE) / "golden" / name;
    if (std::getenv("RANKLAB_BLESS") != nullptr) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
    }
    std::ifstream stored(file, std::ios::binary);
    EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(stored), {}))
        << file << " differs; if that is meant, run this test with RANKLAB_BLESS=1";
}

}  // namespace ranklab::tests
