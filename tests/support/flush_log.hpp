// Records calls of fsync and rename: in a program that includes this header its definitions replace
// libc's.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ranklab::tests {

inline std::vector<std::string>& flush_log() {
    static std::vector<std::string> log;
    return log;
}

}  // namespace ranklab::tests

extern "C" inline __attribute__((used)) int fsync(int descriptor) {
    std::error_code ignored;
    const auto path =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), ignored);
    ranklab::tests::flush_log().push_back("fsync " + path.string());
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" inline __attribute__((used)) int rename(const char* from, const char* to) noexcept {
    ranklab::tests::flush_log().push_back("rename " + std::string(from) + " " + to);
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
