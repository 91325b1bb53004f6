// How an MPI library names itself, made one short line.
#pragma once

#include <string>
#include <string_view>

namespace ranklab::base {

/// Of what MPI_Get_library_version gives: "Open MPI v4.1.4, package: ...", "MPICH 4.0.2" (which writes
/// "MPICH Version:      4.0.2", and lines about its build), "CRAY MPICH version 8.1.25 ...".
inline std::string mpi_library_name(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    std::string name;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (!blank) name += c;
        if (blank && !name.empty() && name.back() != ' ') name += ' ';
    }
    if (name.ends_with(' ')) name.pop_back();
    constexpr std::string_view kMpich = "MPICH Version: ", kCray = "MPI VERSION : ";
    if (name.starts_with(kMpich)) return "MPICH " + name.substr(kMpich.size());
    if (name.starts_with(kCray)) return name.substr(kCray.size());
    return name;
}

}  // namespace ranklab::base
