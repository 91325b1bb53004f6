// How much memory a host has left for a job.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "host/activity.hpp"

namespace ranklab::host {

/// Bytes that this process and others in its cgroups can still take without swapping: what the kernel says
/// is available, and what the cgroups leave of it. Nothing where the system does not say it.
std::optional<std::int64_t> free_memory(const std::filesystem::path& root = "/");

}  // namespace ranklab::host
