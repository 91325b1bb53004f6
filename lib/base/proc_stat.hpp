// What the kernel says of a process or thread in its file `stat` (proc(5)).
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text.hpp"

namespace ranklab::base {

/// Of "/proc/self" or "/proc/12/task/13": what stands behind the name, which may hold blanks and brackets.
/// The state comes first. "" where there is no such process, or where the system hides those of other users.
inline std::string stat_after_name(const std::string& process) {
    std::ifstream file(process + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const auto name_ends = stat.rfind(") ");
    return name_ends == std::string::npos ? "" : stat.substr(name_ends + 2);
}

/// By proc(5)'s number, the state being 3; "" where there is no such field.
inline std::string stat_field(const std::string& after_name, std::size_t number) {
    const auto fields = split(after_name, ' ');
    return number - 3 < fields.size() ? fields[number - 3] : "";
}

}  // namespace ranklab::base
