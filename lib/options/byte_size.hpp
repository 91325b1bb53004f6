// Sizes as users write them. Private to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ranklab::options {

/// The bytes of "4096", "64K", "1MiB" or "10MB"; nullopt where `text` is not a size or does not fit
/// in 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace ranklab::options
