// The control groups that this process is in: what limits its CPU time and its memory.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "host/activity.hpp"

namespace ranklab::host {

struct OwnCgroups {
    bool version2 = false;
    std::vector<std::filesystem::path> folders;  ///< the outermost first; empty: none is seen from here
};
/// Of that resource ("cpu", "memory"): the process' own and those above it, as far as they are seen.
OwnCgroups own_cgroups(std::string_view controller, const std::filesystem::path& root = system_root());

}  // namespace ranklab::host
