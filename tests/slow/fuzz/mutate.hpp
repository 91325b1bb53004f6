// Edits of bytes that know nothing of what the bytes mean.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fuzz/random.hpp"

namespace ranklab::fuzz {

/// One edit: flipped bits, other bytes, a cut, blocks moved, copied, blanked, lengths and addresses changed,
/// a piece of one of `others`.
void mutate_bytes(Bytes& bytes, Random& random, std::span<const Bytes> others);

/// HDF5's newer structures carry a checksum, without which nearly every damage to them would be found by it
/// alone. These are the pieces of `bytes` that are followed by their own checksum.
struct Checksummed {
    std::size_t begin;
    std::size_t end;  ///< where the 4 bytes of the checksum stand
};
std::vector<Checksummed> find_checksums(const Bytes& bytes);

/// Makes them right again, as one would who damages a file on purpose.
void renew_checksums(Bytes& bytes, std::span<const Checksummed> pieces);

}  // namespace ranklab::fuzz
