#include "base/file_system.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace ranklab::base {
namespace {

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

FileSystem file_system_at(const std::filesystem::path& place) {
    struct statfs info {};
    auto there = std::filesystem::absolute(place);
    while (::statfs(there.c_str(), &info) != 0) {
        if (errno != ENOENT || !there.has_relative_path()) return {"unknown", Kind::other};
        there = there.parent_path();
    }
    const auto magic = static_cast<std::uint32_t>(info.f_type);  // signed, and on some machines of 64 bits
    const auto known = std::ranges::find(kKnown, magic, &Known::magic);
    if (known == kKnown.end()) return {fmt::format("type 0x{:X}", magic), Kind::other};
    return {known->name, known->kind};
}

}  // namespace ranklab::base
