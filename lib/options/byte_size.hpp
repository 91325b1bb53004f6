// Sizes as users write them. Private to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ranklab::options {

/// The bytes of "4096", "64K", "1MiB" or "10MB"; nullopt if `text` is not a size or does not fit
/// in 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Writes `bytes` with the largest of T, G, M, K that divides them: "64K", "1000".
std::string bytes_text(std::uint64_t bytes);

}  // namespace ranklab::options
