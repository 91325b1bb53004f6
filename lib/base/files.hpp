// Files that a user named: open, read and write them, turn errno into errors, find the file system.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/handle.hpp"

namespace ranklab::base {

using Descriptor = unique_handle<int, -1, ::close>;

/// Throws the error of a failed system call on a file to be written: OptionError if the path itself
/// is wrong (ENOTDIR, EISDIR), otherwise EnvironmentError. `setting` named the path.
[[noreturn]] void throw_errno(const char* call, const std::filesystem::path& path, int error,
                              const char* setting = "output");

/// Throws the error of a failed system call on a file to be read. `setting` is null if no setting
/// named the path.
[[noreturn]] void throw_read_errno(const char* call, const std::filesystem::path& path, int error,
                                   const char* setting = nullptr);

/// Makes the folder and its parents. Logs their names if several were missing, since the path may
/// be mistyped. Throws as throw_errno() on failure.
void make_folders(const std::filesystem::path& folder, const char* setting = "output");

/// Hashes a file's contents, or the names and contents of the files directly in a folder; "" if
/// there is no file. Above 16 MiB in all, hashes the sizes and 16 pieces of 1 MiB.
std::string hash_of_contents(const std::filesystem::path& path);

/// The kind of a file that is not regular: "a FIFO (named pipe)", "a folder", "a link to
/// nothing"... Opening a FIFO would block, and a device may have no end. "" for a regular file, or
/// if nothing exists.
std::string irregular_kind(const std::filesystem::path& path);

/// "x.ini is a FIFO (named pipe), not a regular file; name a file".
std::string irregular_sentence(const std::filesystem::path& path, const std::string& kind);

template <class ErrorType>
void refuse_irregular(const std::filesystem::path& path) {
    const std::string kind = irregular_kind(path);
    if (!kind.empty()) throw ErrorType(irregular_sentence(path, kind));
}

/// open(2) with O_CLOEXEC. Returns an empty handle and sets errno on failure.
Descriptor open_file(const std::filesystem::path& path, int flags);

/// Calls open_file. Throws ErrorType if `path` is not a regular file.
template <class ErrorType>
Descriptor open_regular(const std::filesystem::path& path, int flags) {
    refuse_irregular<ErrorType>(path);
    return open_file(path, flags);
}

/// Reads up to `most` bytes from the file's position. Returns false and sets errno on failure.
bool read_up_to(const Descriptor& file, std::size_t most, std::string& bytes);

/// Writes all bytes, in as many system calls as needed, at the file's position or at offset `at`.
/// Returns false and sets errno on failure.
bool write_bytes(int file, std::span<const std::byte> bytes, std::optional<std::uint64_t> at = {});
/// Fills `bytes` and returns their number, which is smaller at the file's end. Returns nullopt and
/// sets errno on failure.
std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes,
                                      std::optional<std::uint64_t> at = {});

/// write_bytes and read_bytes for a string, vector or span.
template <class Values>
bool write_whole(int file, const Values& values, std::optional<std::uint64_t> at = {}) {
    return write_bytes(file, std::as_bytes(std::span(values)), at);
}
template <class Values>
std::optional<std::size_t> read_whole(int file, Values&& values,
                                      std::optional<std::uint64_t> at = {}) {
    return read_bytes(file, std::as_writable_bytes(std::span(values)), at);
}

/// Where reads may be cached, judged by the file system's name. disk: in this node's page cache;
/// network: also on the server; own_cache: in the file system's own cache (zfs); memory: files are
/// memory (tmpfs). Of several file systems, the later enumerator is the more cautious choice.
enum class FileSystemKind { disk, other, network, own_cache, memory };

struct FileSystem {
    /// "ext4", "tmpfs"...; "type 0x1234" for an unknown magic number; "" if not yet determined.
    std::string name;
    FileSystemKind kind = FileSystemKind::other;
};

/// The file system of `place`, or of its nearest parent that exists. Its name is "unknown" if
/// statfs fails.
FileSystem file_system_at(const std::filesystem::path& place);

}  // namespace ranklab::base
