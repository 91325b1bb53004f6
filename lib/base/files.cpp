#include "base/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

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
            return "no room for it; free some space or name another folder";
        case EROFS:
            return "the file system is read-only; name a writable folder";
        case EACCES:
        case EPERM:
            return "no permission to write there; name a writable folder";
        default:
            return "it cannot be written there; name another folder";
    }
}

const char* reading_advice(int error) {
    return error == EACCES || error == EPERM
               ? "no permission to read it; ask its owner, or name another file"
               : "it cannot be read; name another file";
}

[[noreturn]] void refuse(const char* call, const fs::path& path, int error, const char* what,
                         const Settings& settings) {
    const std::string sentence = fmt::format("{}: {} ({}: {})", path.string(), what, call,
                                             std::generic_category().message(error));
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

// Repeats move(remaining bytes, bytes done), a read or write call, until all bytes are moved or a
// call moves none. Returns the bytes moved; nullopt on failure.
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

using Kind = FileSystemKind;

struct Known {
    std::uint32_t magic;
    const char* name;
    Kind kind;
};

// Numbers from statfs(2), linux/magic.h and the Lustre, GPFS, BeeGFS and OpenZFS sources.
constexpr std::array kKnown{
    Known{0xEF53, "ext4", Kind::disk},          Known{0x58465342, "xfs", Kind::disk},
    Known{0x9123683E, "btrfs", Kind::disk},     Known{0xF2F52010, "f2fs", Kind::disk},
    Known{0x794C7630, "overlayfs", Kind::disk}, Known{0x01021994, "tmpfs", Kind::memory},
    Known{0x858458F6, "ramfs", Kind::memory},   Known{0x958458F6, "hugetlbfs", Kind::memory},
    Known{0x2FC12FC1, "zfs", Kind::own_cache},  Known{0xCA451A4E, "bcachefs", Kind::disk},
    Known{0x6969, "nfs", Kind::network},        Known{0x0BD00BD0, "lustre", Kind::network},
    Known{0x47504653, "gpfs", Kind::network},   Known{0x19830326, "beegfs", Kind::network},
    Known{0x01021997, "9p", Kind::network},     Known{0x65735546, "fuse", Kind::network},
    Known{0x00C36400, "ceph", Kind::network},   Known{0xFF534D42, "cifs", Kind::network},
    Known{0xFE534D42, "smb2", Kind::network},   Known{0x5346414F, "afs", Kind::network},
    Known{0xAAD7AAEA, "panfs", Kind::network},  Known{0x9FA0, "proc", Kind::other}};

}  // namespace

void throw_errno(const char* call, const fs::path& path, int error, const char* setting) {
    refuse(call, path, error, advice(error), {setting});
}

void throw_read_errno(const char* call, const fs::path& path, int error, const char* setting) {
    refuse(call, path, error, reading_advice(error),
           setting == nullptr ? Settings{} : Settings{setting});
}

void make_folders(const fs::path& folder, const char* setting) {
    std::error_code error;
    const fs::path whole = fs::absolute(folder / "", error).parent_path();
    if (error) throw_errno("mkdir", folder, error.value(), setting);
    fs::path first = whole;
    while (first.has_relative_path() && !fs::exists(first.parent_path(), error))
        first = first.parent_path();
    const bool several = first != whole;
    fs::create_directories(whole, error);
    if (error) throw_errno("mkdir", folder, error.value(), setting);
    if (several)
        log::info(fmt::format("{} did not exist; made it and the folder {}", first.string(),
                              whole.string()));
}

std::string hash_of_contents(const fs::path& path) {
    constexpr std::uint64_t kPiece = 1U << 20U, kPieces = 16;
    std::error_code none;
    std::map<fs::path, std::uint64_t> files;  // sizes
    std::uint64_t all = 0, begin = 0, next = 0;
    const auto add = [&](const fs::path& file) {
        if (fs::is_regular_file(file, none)) all += files[file] = fs::file_size(file, none);
    };
    add(path);
    for (const auto& entry : fs::directory_iterator(path, none)) add(entry.path());
    std::string found, piece;
    for (const auto& [file, size] : files) {
        found += fmt::format("{} {} ", file == path ? "" : file.filename().string(), size);
        const auto opened = open_file(file, O_RDONLY);
        if (all <= kPiece * kPieces) next = begin;
        for (; next < begin + size; next += std::max(kPiece, all / kPieces)) {
            piece.resize(kPiece);
            piece.resize(read_whole(opened.get(), piece, next - begin).value_or(0));
            found += fmt::format("{:x} ", fingerprint(piece));
        }
        begin += size;
    }
    return files.empty() ? "" : fmt::format("{:016x}", fingerprint(found));
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

std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes,
                                      std::optional<std::uint64_t> at) {
    return move_all(bytes, [&](auto left, std::size_t done) {
        return at ? ::pread(file, left.data(), left.size(), *at + done)
                  : ::read(file, left.data(), left.size());
    });
}

FileSystem file_system_at(const std::filesystem::path& place) {
    struct statfs info {};
    auto there = std::filesystem::absolute(place);
    while (::statfs(there.c_str(), &info) != 0) {
        if (errno != ENOENT || !there.has_relative_path()) return {"unknown", Kind::other};
        there = there.parent_path();
    }
    // f_type is signed, and has 64 bits on some machines.
    const auto magic = static_cast<std::uint32_t>(info.f_type);
    const auto known = std::ranges::find(kKnown, magic, &Known::magic);
    if (known == kKnown.end()) return {fmt::format("type 0x{:X}", magic), Kind::other};
    return {known->name, known->kind};
}

}  // namespace ranklab::base
