// File descriptors with an owner, and what the system's refusals mean to a user.
#pragma once

#include <filesystem>

#include "base/unique_handle.hpp"

namespace ranklab::base {

struct DescriptorTraits {
    using type = int;
    static constexpr type empty = -1;
    static void close(type descriptor) noexcept;
};
using Descriptor = unique_handle<DescriptorTraits>;

/// Throws the sentence for a failed system call on `path`: OptionError where the path itself is wrong,
/// EnvironmentError where the place does not allow it. It advises another value of `setting`.
[[noreturn]] void throw_errno(const char* call, const std::filesystem::path& path, int error,
                              const char* setting = "output");

/// The same for one that was only to read, and asks for no writable place; `setting` null: no option named
/// the path.
[[noreturn]] void throw_read_errno(const char* call, const std::filesystem::path& path, int error,
                                   const char* setting = nullptr);

}  // namespace ranklab::base
