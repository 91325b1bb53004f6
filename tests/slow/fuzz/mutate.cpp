#include "fuzz/mutate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace ranklab::fuzz {
namespace {

using Others = std::span<const Bytes>;

void flip_bits(Bytes& bytes, Random& random, Others) {
    for (std::size_t n = 1 + random.mostly_small(32); n > 0 && !bytes.empty(); --n)
        bytes[random.below(bytes.size())] ^= static_cast<char>(1U << random.below(8));
}

void set_bytes(Bytes& bytes, Random& random, Others) {
    for (std::size_t n = 1 + random.mostly_small(8); n > 0 && !bytes.empty(); --n)
        bytes[random.below(bytes.size())] = static_cast<char>(edge_number(random));
}

void cut(Bytes& bytes, Random& random, Others) {
    bytes.resize(random.below(bytes.size() + 1));
}

void lengthen(Bytes& bytes, Random& random, Others) {
    bytes.append(1 + random.mostly_small(5000), random.chance(50) ? '\0' : static_cast<char>(random.next()));
}

struct Block {
    std::size_t at;
    std::size_t size;
};
Block block_of(const Bytes& bytes, Random& random) {
    const std::size_t at = random.below(bytes.size());
    return {at, random.mostly_small(std::min<std::size_t>(bytes.size() - at, 4096) + 1)};
}

void swap_blocks(Bytes& bytes, Random& random, Others) {
    const Block one = block_of(bytes, random);
    const Block other = block_of(bytes, random);
    const std::size_t size = std::min(one.size, other.size);
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(one.at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(one.at + size),
                     bytes.begin() + static_cast<std::ptrdiff_t>(other.at));
}

void blank(Bytes& bytes, Random& random, Others) {
    const Block block = block_of(bytes, random);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(block.at), block.size,
                random.chance(50) ? '\0' : static_cast<char>(random.next()));
}

void remove(Bytes& bytes, Random& random, Others) {
    const Block block = block_of(bytes, random);
    bytes.erase(block.at, block.size);
}

void repeat(Bytes& bytes, Random& random, Others) {
    const Block block = block_of(bytes, random);
    bytes.insert(random.below(bytes.size() + 1), bytes.substr(block.at, block.size));
}

void splice(Bytes& bytes, Random& random, Others others) {
    if (others.empty()) return;
    const Bytes& other = random.pick(others);
    if (other.empty()) return;
    const Block block = block_of(other, random);
    bytes.replace(random.below(bytes.size() + 1), block.size, other, block.at, block.size);
}

void put_number(Bytes& bytes, std::size_t at, std::size_t size, std::uint64_t value, bool big_endian) {
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
        const std::size_t shift = 8 * (big_endian ? size - 1 - i : i);
        bytes[at + i] = static_cast<char>(value >> shift);
    }
}

void set_number(Bytes& bytes, Random& random, Others) {
    const std::size_t size = std::size_t{1} << random.below(4);
    const std::uint64_t value = random.chance(70) ? edge_number(random) : random.below(2 * bytes.size());
    put_number(bytes, random.below(bytes.size()), size, value, random.chance(20));
}

// Words of 4 or 8 bytes that could be a length in the file or a place of it.
void set_length(Bytes& bytes, Random& random, Others others) {
    const std::size_t size = random.chance(60) ? 8 : 4;
    for (int tries = 0; tries < 200 && bytes.size() > size; ++tries) {
        const std::size_t at = random.below(bytes.size() - size);
        std::uint64_t value = 0;
        std::memcpy(&value, &bytes[at], size);
        if (value == 0 || value > 2 * bytes.size()) continue;
        const std::uint64_t near = value + random.below(17) - 8;
        return put_number(bytes, at, size, random.chance(50) ? near : edge_number(random), false);
    }
    set_number(bytes, random, others);
}

void hostile_piece(Bytes& bytes, Random& random, Others) {
    const std::string text = hostile_text(random, 40);
    bytes.replace(random.below(bytes.size()), random.chance(70) ? text.size() : 0, text);
}

constexpr std::array kEdits{flip_bits,   flip_bits,  set_bytes,     cut,       lengthen,
                            swap_blocks, blank,      remove,        repeat,    splice,
                            set_number,  set_length, hostile_piece, set_length};

constexpr std::array kSignatures{"OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD", "BTIN", "BTLF",
                                 "FSHD", "FSSE", "SMTB", "SMLI", "FADB", "FAHD", "EAHD", "EAIB"};
constexpr std::size_t kLongestPiece = 4096;

// Bob Jenkins' lookup3 (public domain), which HDF5 sums up its metadata with.
std::uint32_t lookup3(const char* data, std::size_t length) {
    std::array<std::uint32_t, 3> s{};
    s.fill(0xdeadbeef + static_cast<std::uint32_t>(length));
    const auto add = [&](std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i)
            s[i / 4] += std::uint32_t{static_cast<unsigned char>(data[i])} << 8U * (i % 4);
    };
    for (; length > 12; length -= 12, data += 12) {
        add(12);
        constexpr std::array kTurns{4, 6, 8, 16, 19, 4};
        for (std::size_t i = 0; i < 6; ++i) {
            std::uint32_t& a = s[i % 3];
            const std::uint32_t c = s[(i + 2) % 3];
            a = (a - c) ^ std::rotl(c, kTurns[i]);
            s[(i + 2) % 3] += s[(i + 1) % 3];
        }
    }
    if (length == 0) return s[2];
    add(length);
    constexpr std::array kTurns{14, 11, 25, 16, 4, 14, 24};
    for (std::size_t i = 0; i < 7; ++i) {
        const std::uint32_t before = s[(i + 1) % 3];
        s[(i + 2) % 3] = (s[(i + 2) % 3] ^ before) - std::rotl(before, kTurns[i]);
    }
    return s[2];
}

std::uint32_t stored_at(const Bytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

}  // namespace

void mutate_bytes(Bytes& bytes, Random& random, Others others) {
    if (bytes.empty()) return lengthen(bytes, random, others);
    random.pick(kEdits)(bytes, random, others);
}

std::vector<Checksummed> find_checksums(const Bytes& bytes) {
    std::vector<Checksummed> found;
    if (bytes.starts_with("\x89HDF") && bytes.size() > 48) found.push_back({0, 44});
    for (const char* signature : kSignatures) {
        for (std::size_t begin = 0; (begin = bytes.find(signature, begin)) != Bytes::npos; ++begin) {
            const std::size_t last = std::min(bytes.size() - 4, begin + kLongestPiece);
            for (std::size_t end = begin + 8; end <= last; ++end) {
                if (lookup3(bytes.data() + begin, end - begin) != stored_at(bytes, end)) continue;
                found.push_back({begin, end});
                break;
            }
        }
    }
    return found;
}

void renew_checksums(Bytes& bytes, std::span<const Checksummed> pieces) {
    for (const auto& [begin, end] : pieces) {
        if (end + 4 > bytes.size()) continue;
        const std::uint32_t sum = lookup3(bytes.data() + begin, end - begin);
        std::memcpy(bytes.data() + end, &sum, sizeof sum);
    }
}

}  // namespace ranklab::fuzz
