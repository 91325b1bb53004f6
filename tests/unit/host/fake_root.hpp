// A system of which the test writes the files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temp_folder.hpp"

namespace ranklab::host {

class FakeRoot : public testing::Test {
  protected:
    void write(const std::string& file, const std::string& text) {
        const auto path = root_.path() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    tests::TempFolder root_;
};

}  // namespace ranklab::host
