// Version and revision of this build, from CMake, which reads the revision at every build.
#pragma once

#include <string>

namespace ranklab::app {

std::string version();         ///< "0.1.0"
std::string git_revision();    ///< "3f9a1c0d" or "3f9a1c0d-dirty"; "unknown" outside a checkout
std::string compiler();        ///< "GNU 12.2.0"
std::string build_type();      ///< "Release"
std::string build_features();  ///< "LibTorch 2.11.0, CUDA runtime, ..."

/// "ranklab 0.1.0 (3f9a1c0d, Release, GNU 12.2.0)"
std::string version_line();

}  // namespace ranklab::app
