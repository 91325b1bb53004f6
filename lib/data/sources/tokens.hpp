// Texts as tokens in one file: nanoGPT's .bin (uint16 alone), llm.c's .bin (a header of 256 int32:
// 20240520, version 1, number of tokens; then uint16), and one-dimensional npy files of integers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/numbers.hpp"
#include "hdf5/array.hpp"

namespace ranklab::data {

/// Window i holds the `length` + 1 tokens from token i * length on; there are (tokens - 1) / length
/// windows. Throws DataError for a fault of the file, or if it is shorter than a window.
hdf5::Rows open_token_windows(const std::string& name, std::int64_t length);

/// Returns the largest token of these windows. Throws DataError, with the place, for a token that
/// is not below `vocabulary`.
std::int64_t check_tokens(const hdf5::Rows& windows, base::Share part, std::int64_t vocabulary);

using LlmcHeader = std::array<std::int32_t, 256>;
/// llm.c's header of a file of `tokens` tokens, at most 2^31 - 1.
LlmcHeader llmc_header(std::int64_t tokens);

/// Whether these are the first bytes of an llm.c token file.
bool is_llmc_tokens(const std::string& first_bytes);

}  // namespace ranklab::data
