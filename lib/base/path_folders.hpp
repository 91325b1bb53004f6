// Where the shell looks for programs.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace ranklab::base {

/// The folders of PATH in their order, without empty ones; none where PATH is not set.
inline std::vector<std::string> path_folders() {
    const char* const path = std::getenv("PATH");
    auto folders = split(path == nullptr ? "" : path, ':');
    std::erase(folders, "");
    return folders;
}

}  // namespace ranklab::base
