// A file name that goes with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/handle.hpp"

namespace ranklab::hdf5 {

class Scratch : base::Immovable {
  public:
    Scratch() {
        std::string name =
            (std::filesystem::temp_directory_path() / "ranklab-hdf5-XXXXXX").string();
        if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    std::filesystem::path file() const { return folder_ / "x.h5"; }

  private:
    std::filesystem::path folder_;
};

}  // namespace ranklab::hdf5
