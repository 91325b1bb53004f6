#include "base/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.hpp"

namespace ranklab::base {
namespace {

namespace fs = std::filesystem;

bool path_is_wrong(int error) {
    return error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP;
}

const char* advice(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return "there is no room for it; free some space or name another place";
        case EROFS:
            return "the file system is read-only; name a writable place";
        case EACCES:
        case EPERM:
            return "you may not write there; name a writable place";
        default:
            return "it cannot be written there; name another place";
    }
}

const char* reading_advice(int error) {
    return error == EACCES || error == EPERM
               ? "you may not read it; ask its owner for the right, or name another"
               : "it cannot be read; name another";
}

[[noreturn]] void refuse(const char* call, const fs::path& path, int error, const char* what,
                         const Settings& settings) {
    const std::string sentence =
        fmt::format("{}: {} ({}: {})", path.string(), what, call, std::generic_category().message(error));
    if (path_is_wrong(error)) throw OptionError(sentence, settings);
    throw EnvironmentError(sentence, settings);
}

std::string kind_of(mode_t mode) {
    if (S_ISREG(mode)) return "";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a FIFO (named pipe)";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

// Calls move(bytes, done), which moves some of the bytes that are left, until none are left or none came.
// How many were moved; nullopt where it failed.
template <class Bytes, class Move>
std::optional<std::size_t> move_all(Bytes bytes, const Move& move) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t moved = move(bytes.subspan(done), done);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return std::nullopt;
        if (moved == 0) break;
        done += moved;
    }
    return done;
}

}  // namespace

void DescriptorTraits::close(type descriptor) noexcept {
    ::close(descriptor);
}

void throw_errno(const char* call, const fs::path& path, int error, const char* setting) {
    refuse(call, path, error, advice(error), {setting});
}

void throw_read_errno(const char* call, const fs::path& path, int error, const char* setting) {
    refuse(call, path, error, reading_advice(error), setting == nullptr ? Settings{} : Settings{setting});
}

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

bool write_bytes(int file, std::span<const std::byte> bytes, std::optional<std::uint64_t> at) {
    const auto moved = move_all(bytes, [&](auto left, std::size_t done) {
        return at ? ::pwrite(file, left.data(), left.size(), *at + done)
                  : ::write(file, left.data(), left.size());
    });
    return moved == bytes.size();
}

std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes, std::optional<std::uint64_t> at) {
    return move_all(bytes, [&](auto left, std::size_t done) {
        return at ? ::pread(file, left.data(), left.size(), *at + done)
                  : ::read(file, left.data(), left.size());
    });
}

}  // namespace ranklab::base
