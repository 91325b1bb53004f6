// The numbers are Pillow 13.0's: Image.fromarray(plane).resize((width, height), Image.BILINEAR),
// plane by plane.
#include "data/images.hpp"

#include <gtest/gtest.h>

namespace ranklab::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The high bytes of a linear congruential generator: x = 1664525 x + 1013904223 mod 2^32, from 1.
Bytes pixels(std::int64_t count) {
    Bytes bytes;
    std::uint32_t x = 1;
    for (std::int64_t i = 0; i < count; ++i) {
        x = x * 1664525U + 1013904223U;
        bytes.push_back(static_cast<std::uint8_t>(x >> 24U));
    }
    return bytes;
}

Bytes resized(const ImageShape& from, const ImageShape& to) {
    Bytes out(static_cast<std::size_t>(to.bytes()));
    BilinearResize(from, to)(pixels(from.bytes()).data(), out.data());
    return out;
}

std::uint64_t fnv1a(const Bytes& bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
    return hash;
}

TEST(BilinearResize, IsPillowsInEachPixel) {
    EXPECT_EQ(pixels(12), (Bytes{60, 94, 129, 180, 12, 94, 198, 142, 4, 163, 64, 108}));
    EXPECT_EQ(resized({1, 3, 4}, {1, 5, 7}),
              (Bytes{60,  72,  92,  112, 133, 162, 180, 41,  60,  90, 126, 157,
                     162, 165, 12,  41,  88,  146, 194, 162, 142, 7,  53,  126,
                     127, 118, 120, 122, 4,   61,  152, 114, 67,  92, 108}));
}

TEST(BilinearResize, IsPillowsUpDownAndAcross) {
    const struct {
        ImageShape from, to;
        std::uint64_t hash;
    } cases[] = {
        {{3, 32, 32}, {3, 224, 224}, 0xf77edf76b45b776aULL},  // CIFAR-100 for a ResNet
        {{1, 28, 28}, {1, 32, 32}, 0x1e4fbb2b2f08ddbcULL},
        {{3, 32, 32}, {3, 17, 9}, 0xbd4ece883f06799dULL},
        {{2, 5, 7}, {2, 5, 20}, 0x043bc9a0cd1ad716ULL},
        {{1, 9, 9}, {1, 3, 9}, 0x9f89b1582b17ebfaULL},
        {{3, 32, 32}, {3, 32, 32}, 0xea4cdda371539a98ULL},
    };
    for (const auto& c : cases)
        EXPECT_EQ(fnv1a(resized(c.from, c.to)), c.hash) << c.from.height << " to " << c.to.height;
}

}  // namespace
}  // namespace ranklab::data
