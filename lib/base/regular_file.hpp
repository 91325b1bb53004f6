// Opening what a user named: regular files alone. A FIFO would block, and a device never end.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/descriptor.hpp"

namespace ranklab::base {

/// What is there in place of a regular file: "a FIFO (named pipe)", "a folder", "a link to nothing"...
/// "" where there is a regular file, or nothing at all.
std::string irregular_kind(const std::filesystem::path& path);

/// "x.ini is a FIFO (named pipe), not a regular file; name a file".
std::string irregular_sentence(const std::filesystem::path& path, const std::string& kind);

template <class ErrorType>
void refuse_irregular(const std::filesystem::path& path) {
    const std::string kind = irregular_kind(path);
    if (!kind.empty()) throw ErrorType(irregular_sentence(path, kind));
}

/// open(2), with O_CLOEXEC. Empty where the system does not open it: errno says why.
Descriptor open_file(const std::filesystem::path& path, int flags);

/// The same, where nothing else than a regular file is there.
template <class ErrorType>
Descriptor open_regular(const std::filesystem::path& path, int flags) {
    refuse_irregular<ErrorType>(path);
    return open_file(path, flags);
}

/// Up to `most` bytes from where the file stands. False where reading fails: errno says why.
bool read_up_to(const Descriptor& file, std::size_t most, std::string& bytes);

}  // namespace ranklab::base
