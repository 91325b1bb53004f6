// A synthetic text as tokens, whose entropy is known.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

struct TokenFileSpec {
    std::int64_t tokens = 0;
    std::int64_t seed = 1;
};

inline constexpr std::int64_t kTokenSymbols = 64;
/// Nats of a token, the two before it known: (1/2 1 + 1/4 2 + 2/8 3) bits. No model's loss on this
/// text can be lower, except by chance or by learning the text by heart.
inline constexpr double kTokenEntropy = 1.75 * 0.693147180559945309;

std::uint64_t token_file_bytes(const TokenFileSpec& spec);

/// Collective. Writes llm.c's format: a Markov chain of order 2 over kTokenSymbols symbols. After
/// tokens a, b one of four follows, drawn with 1/2, 1/4, 1/8, 1/8; which four depends on a % 8, b %
/// 8 and the seed. The bytes are equal at any number of ranks. Throws OutputFile's errors.
void make_tokens(comm::Communicator& control, const std::filesystem::path& file,
                 const TokenFileSpec& spec, bool force, base::ProgressSink& progress);

}  // namespace ranklab::data
