// The programs of one build or installation lie in one folder.
#pragma once

#include <filesystem>
#include <string>

namespace ranklab::base {

/// The program of that name in the folder of this one, whether it is there or not.
inline std::filesystem::path program_beside(const std::string& name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace ranklab::base
