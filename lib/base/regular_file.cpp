#include "base/regular_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/whole_io.hpp"

namespace ranklab::base {
namespace {

namespace fs = std::filesystem;

std::string kind_of(mode_t mode) {
    if (S_ISREG(mode)) return "";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a FIFO (named pipe)";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISLNK(mode)) return "a symbolic link";
    return "a device";
}

int open_once(const fs::path& path, int flags) {
    int descriptor = -1;
    do descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

// Some file systems fail to read at once what has yet to come from a tape.
void block_again(const Descriptor& file) {
    const int flags = ::fcntl(file.get(), F_GETFL);
    if (flags >= 0) static_cast<void>(::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK));
}

}  // namespace

std::string irregular_kind(const fs::path& path, Links links) {
    struct stat status {};
    const bool is_there = ::lstat(path.c_str(), &status) == 0;
    if (!is_there) return "";
    if (!S_ISLNK(status.st_mode) || links == Links::refuse) return kind_of(status.st_mode);
    if (::stat(path.c_str(), &status) == 0) return kind_of(status.st_mode);
    if (errno == ELOOP) return "a link in a circle of links";
    return errno == ENOENT ? "a link to nothing" : "";
}

std::string irregular_sentence(const fs::path& path, const std::string& kind) {
    return fmt::format("{} is {}, not a regular file; name a file", path.string(), kind);
}

// Looked at before it is opened, since opening alone does something to some devices; and after, since it may
// have been changed meanwhile.
OpenedFile try_open_regular(const fs::path& path, int flags, Links links) {
    OpenedFile opened;
    opened.kind = irregular_kind(path, links);
    if (!opened.kind.empty()) return opened;
    if (links == Links::refuse) flags |= O_NOFOLLOW;
    opened.file.reset(open_once(path, flags | O_NONBLOCK));
    // A lease of another process (a file server's) is waited for, as without O_NONBLOCK.
    if (!opened.file && errno == EWOULDBLOCK) opened.file.reset(open_once(path, flags));
    if (!opened.file) {
        opened.error = errno;
        opened.kind = irregular_kind(path, links);
        return opened;
    }
    struct stat status {};
    if (::fstat(opened.file.get(), &status) != 0)
        opened.error = errno;
    else
        opened.kind = kind_of(status.st_mode);
    if (opened.error != 0 || !opened.kind.empty())
        opened.file.reset();
    else if ((flags & O_NONBLOCK) == 0)
        block_again(opened.file);
    return opened;
}

bool read_up_to(const Descriptor& file, std::size_t most, std::string& bytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 16U;
    bytes.clear();
    while (bytes.size() < most) {
        const std::size_t had = bytes.size();
        const std::size_t wanted = std::min(kPiece, most - had);
        bytes.resize(had + wanted);
        const auto got = read_whole(file.get(), std::span(bytes).subspan(had));
        bytes.resize(had + got.value_or(0));
        if (!got || *got < wanted) return got.has_value();
    }
    return true;
}

}  // namespace ranklab::base
