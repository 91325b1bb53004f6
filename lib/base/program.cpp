#include "base/program.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace ranklab::base {

std::filesystem::path program_beside(const std::string& name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

ProgramOutput output_of(const std::string& line) {
    ProgramOutput output;
    std::FILE* const pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return {-1, "no process can be started"};
    std::array<char, 1 << 16> part{};
    while (const auto got = std::fread(part.data(), 1, part.size(), pipe))
        output.text.append(part.data(), got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) output.code = WEXITSTATUS(status);
    return output;
}

}  // namespace ranklab::base
