// The file systems that are known here, and what each means for a measurement.
#pragma once

#include <filesystem>
#include <string>

namespace ranklab::base {

/// disk: this node's page cache lies right before the device (or so the file system's name says). memory: the
/// files are the cache (tmpfs). network: a server, which caches too. own_cache: keeps files in a cache of its
/// own, not the kernel's (zfs). other: none of these, or not known here. The more a kind hides of where bytes
/// came from, the later it stands.
enum class FileSystemKind { disk, other, network, own_cache, memory };

struct FileSystem {
    std::string name;  ///< "ext4", "tmpfs"; "type 0x1234" where the number is not known here, "" before any
    FileSystemKind kind = FileSystemKind::other;
};

/// Of the file system that holds `place`, or its nearest parent that exists. Named "unknown" where it cannot
/// be asked.
FileSystem file_system_at(const std::filesystem::path& place);

}  // namespace ranklab::base
