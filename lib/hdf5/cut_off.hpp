// What to do about a file that cannot be written any more. HDF5 1.10 does not survive a
// close that fails (docs/adr/0001); in an MPI program it even closes what is open within MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ranklab::hdf5 {

/// The file behind a path, as the system knows it.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};
FileIdentity identity_of(const std::string& path);

/// Lets all descriptors that this process has of the file lead to an empty file in memory: what the library
/// still writes there goes well, and is lost.
void cut_off(const FileIdentity& file) noexcept;

/// Whether a failed write of `bytes` failed for lack of room: by the library's words, or by the free space,
/// since Open MPI does not always say why.
bool there_is_no_room(std::string_view library_text, const std::string& path, std::uint64_t bytes);

}  // namespace ranklab::hdf5
