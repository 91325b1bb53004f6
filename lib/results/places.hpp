// Where a results file may lie.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/descriptor.hpp"

namespace ranklab::results {

using base::Descriptor;
using base::throw_errno;
using base::throw_read_errno;

/// What is meant to be done with a file: a refusal speaks of that alone.
enum class Access { read, write };

/// The absolute path that symbolic links lead to, whether or not there is a file yet. OptionError for
/// a path without a file name and for links in a circle.
std::filesystem::path resolve(const std::filesystem::path& path, Access access = Access::write);

/// Whether there is a regular file. OptionError where there is a folder, a device, a pipe or a socket.
bool regular_file_exists(const std::filesystem::path& resolved, Access access = Access::write);

void make_parent_folders(const std::filesystem::path& resolved);

/// The system's word on whether we may write the existing file, which `setting` names.
void check_not_write_protected(const std::filesystem::path& resolved, const char* setting = "output");

/// EnvironmentError where the file system has fewer free bytes. (It may still be a quota that is full:
/// that only a reservation shows.)
void check_free_space(const std::filesystem::path& resolved, std::uint64_t bytes);

/// Whether the open file still bears that name.
bool is_named(const Descriptor& file, const std::filesystem::path& path);

}  // namespace ranklab::results
