// Functions for files that a user named: open, read and write them whole, report the system's
// refusals, and find the file system.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/handle.hpp"

namespace ranklab::base {

struct DescriptorTraits {
    using type = int;
    static constexpr type empty = -1;
    static void close(type descriptor) noexcept;
};
using Descriptor = unique_handle<DescriptorTraits>;

/// Throws the sentence for a failed system call on `path`: OptionError where the path itself is
/// wrong, EnvironmentError where the place does not allow it. It advises another value of
/// `setting`.
[[noreturn]] void throw_errno(const char* call, const std::filesystem::path& path, int error,
                              const char* setting = "output");

/// Throws the error of a file that was only to be read, without advice on a writable place;
/// `setting` null: no option named the path.
[[noreturn]] void throw_read_errno(const char* call, const std::filesystem::path& path, int error,
                                   const char* setting = nullptr);

/// The kind of a file that is not a regular one: "a FIFO (named pipe)", "a folder", "a link to
/// nothing"... A FIFO would block, and a device never end. "" for a regular file, or where nothing
/// exists.
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

/// Opens a file; anything but a regular file is refused.
template <class ErrorType>
Descriptor open_regular(const std::filesystem::path& path, int flags) {
    refuse_irregular<ErrorType>(path);
    return open_file(path, flags);
}

/// Up to `most` bytes from where the file stands. False where reading fails: errno says why.
bool read_up_to(const Descriptor& file, std::size_t most, std::string& bytes);

/// Writes all bytes, in any number of system calls, at the file's position or at `at`. False where
/// the system refuses: errno says why.
bool write_bytes(int file, std::span<const std::byte> bytes, std::optional<std::uint64_t> at = {});
/// Returns how many bytes came: fewer than there is room for at the file's end. nullopt where the
/// system refuses: errno says why.
std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes,
                                      std::optional<std::uint64_t> at = {});

/// Writes values that lie one after the other in memory: a text, a vector, a span.
template <class Values>
bool write_whole(int file, const Values& values, std::optional<std::uint64_t> at = {}) {
    return write_bytes(file, std::as_bytes(std::span(values)), at);
}
template <class Values>
std::optional<std::size_t> read_whole(int file, Values&& values,
                                      std::optional<std::uint64_t> at = {}) {
    return read_bytes(file, std::as_writable_bytes(std::span(values)), at);
}

/// disk: this node's page cache lies right before the device, judging by the file system's name.
/// memory: the files are the cache (tmpfs). network: a server, which caches too. own_cache: keeps
/// files in a cache of its own, not the kernel's (zfs). other: any other. Later kinds hide more of
/// where bytes came from.
enum class FileSystemKind { disk, other, network, own_cache, memory };

struct FileSystem {
    /// Such as "ext4" or "tmpfs"; "type 0x1234" for an unknown number, "" if never asked.
    std::string name;
    FileSystemKind kind = FileSystemKind::other;
};

/// The file system that holds `place`, or its nearest parent that exists. Its name is "unknown"
/// where the system does not say.
FileSystem file_system_at(const std::filesystem::path& place);

}  // namespace ranklab::base
