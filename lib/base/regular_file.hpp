// Opening what a user named: regular files alone. A FIFO would block, a device never end, and a link where
// none belongs lead somewhere else.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

namespace ranklab::base {

/// refuse: of files that ranklab makes itself, where a link makes no sense.
enum class Links { follow, refuse };

/// What is there in place of a regular file: "a FIFO (named pipe)", "a folder", "a link to nothing"...
/// "" where there is a regular file, or nothing at all.
std::string irregular_kind(const std::filesystem::path& path, Links links = Links::follow);

/// "x.ini is a FIFO (named pipe), not a regular file; name a file".
std::string irregular_sentence(const std::filesystem::path& path, const std::string& kind);

template <class ErrorType>
void refuse_irregular(const std::filesystem::path& path, Links links = Links::follow) {
    const std::string kind = irregular_kind(path, links);
    if (!kind.empty()) throw ErrorType(irregular_sentence(path, kind));
}

struct OpenedFile {
    Descriptor file;
    int error = 0;     ///< errno where the system did not open it
    std::string kind;  ///< as of irregular_kind, where it is not regular
};
/// Never blocks, whatever is there. `flags` as of open(2); O_CLOEXEC comes along.
OpenedFile try_open_regular(const std::filesystem::path& path, int flags, Links links = Links::follow);

/// The same; throws an ErrorType with the sentence where it is not regular. Empty where the system does not
/// open it: errno says why.
template <class ErrorType>
Descriptor open_regular(const std::filesystem::path& path, int flags, Links links = Links::follow) {
    OpenedFile opened = try_open_regular(path, flags, links);
    if (!opened.kind.empty()) throw ErrorType(irregular_sentence(path, opened.kind));
    errno = opened.error;
    return std::move(opened.file);
}

/// Up to `most` bytes from where the file stands. False where reading fails: errno says why.
bool read_up_to(const Descriptor& file, std::size_t most, std::string& bytes);

}  // namespace ranklab::base
