#include "base/regular_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
    return "a device";
}

}  // namespace

std::string irregular_kind(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return kind_of(status.st_mode);
    if (errno == ELOOP) return "a link in a circle of links";
    return errno == ENOENT && ::lstat(path.c_str(), &status) == 0 ? "a link to nothing" : "";
}

std::string irregular_sentence(const fs::path& path, const std::string& kind) {
    return fmt::format("{} is {}, not a regular file; name a file", path.string(), kind);
}

Descriptor open_file(const fs::path& path, int flags) {
    return Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666));
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
