// Sizes as users write them. Private to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ranklab::options {

/// "4096", "64K", "1MiB", "10MB": the bytes. Nothing where `text` is no such size or has no place in 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace ranklab::options
