// The 16-bit types compared with known values, with the compiler's types, and with the definition
// of a reduction.
#include "comm/small_floats.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "comm/operation.hpp"

namespace ranklab::comm {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Known {
    float value;
    std::uint16_t bits;
};

TEST(Float16, HasTheBitsOfIeeeBinary16) {
    // Exact values, then rounded ones: ties to even; from 65520 on infinity.
    for (const auto& [value, bits] : std::vector<Known>{{0, 0x0000},
                                                        {-0.0F, 0x8000},
                                                        {1, 0x3c00},
                                                        {-2, 0xc000},
                                                        {65504, 0x7bff},
                                                        {0x1p-14F, 0x0400},
                                                        {0x1p-24F, 0x0001},
                                                        {1023 * 0x1p-24F, 0x03ff},
                                                        {kInf, 0x7c00},
                                                        {-kInf, 0xfc00},
                                                        {2049, 0x6800},
                                                        {2051, 0x6802},
                                                        {2049.5F, 0x6801},
                                                        {65519.996F, 0x7bff},
                                                        {65520, 0x7c00},
                                                        {-70000, 0xfc00},
                                                        {0x1p-25F, 0x0000},
                                                        {0x1.8p-25F, 0x0001},
                                                        {1.5F * 0x1p-24F, 2},
                                                        {2.5F * 0x1p-24F, 2},
                                                        {0x1.ffep-15F, 0x0400},
                                                        {1e-30F, 0x0000},
                                                        {-1e-30F, 0x8000},
                                                        {1e30F, 0x7c00}}) {
        EXPECT_EQ(Float16(value).bits, bits) << value;
    }
    EXPECT_TRUE(std::isnan(static_cast<float>(Float16(kNan))));
    EXPECT_TRUE(std::isnan(static_cast<float>(Float16(-kNan))));
}

TEST(BFloat16, HasTheUpperHalfOfAFloat) {
    for (const auto& [value, bits] :
         std::vector<Known>{{0, 0x0000},
                            {-0.0F, 0x8000},
                            {1, 0x3f80},
                            {-2, 0xc000},
                            {0x1p-133F, 0x0001},
                            {kInf, 0x7f80},
                            {-kInf, 0xff80},
                            {257, 0x4380},
                            {259, 0x4382},
                            {257.5F, 0x4381},
                            {0x1.fep127F, 0x7f7f},
                            {std::numeric_limits<float>::max(), 0x7f80}}) {
        EXPECT_EQ(BFloat16(value).bits, bits) << value;
    }
    // A NaN whose upper 16 bits are an infinity.
    EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001U)))));
}

template <class T>
class SmallFloats : public ::testing::Test {};
using Types = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(SmallFloats, Types);

TYPED_TEST(SmallFloats, EveryValueSurvivesTheWayThroughAFloat) {
    for (unsigned bits = 0; bits <= 0xffffU; ++bits) {
        TypeParam number;
        number.bits = static_cast<std::uint16_t>(bits);
        const float wide = number;
        const auto expected = std::isnan(wide) ? TypeParam::format::kNan : number.bits;
        ASSERT_EQ(TypeParam(wide).bits, expected);
        ASSERT_EQ(std::isnan(wide), (bits & 0x7fffU) > TypeParam::format::kInfinity);
    }
}

#ifdef __FLT16_MANT_DIG__
// Conversions agree with the compiler's type, if it has one.
TEST(Float16, AgreesWithTheCompilersType) {
    for (unsigned bits = 0; bits <= 0xffffU; ++bits) {
        Float16 ours;
        ours.bits = static_cast<std::uint16_t>(bits);
        const auto theirs = static_cast<float>(std::bit_cast<_Float16>(ours.bits));
        if (std::isnan(theirs)) continue;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(ours)),
                  std::bit_cast<std::uint32_t>(theirs));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1000000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (std::isnan(value)) continue;
        ASSERT_EQ(Float16(value).bits, std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)))
            << value;
    }
}
#endif

template <class T>
std::uint16_t combined(std::uint16_t a, std::uint16_t b, ReduceOp op) {
    reduce_small_floats<typename T::format>(&b, &a, 1, op);
    return a;
}

// Numbers with every exponent and both signs: zeros, denormals, infinities and NaNs, too.
std::vector<std::uint16_t> samples() {
    std::vector<std::uint16_t> all;
    for (unsigned bits = 0; bits <= 0xffffU; bits += 61)
        all.push_back(static_cast<std::uint16_t>(bits));
    for (const unsigned bits :
         {0x0U, 0x8000U, 0x7c00U, 0xfc00U, 0x7f80U, 0xff80U, 0x7e00U, 0xfe01U, 0x7bffU})
        all.push_back(static_cast<std::uint16_t>(bits));
    return all;
}

template <class T>
float widened(std::uint16_t bits) {
    return T::format::widen(bits);
}

TYPED_TEST(SmallFloats, ReductionsAreThoseOfTheNumbers) {
    for (const auto a : samples()) {
        for (const auto b : samples()) {
            const float x = widened<TypeParam>(a);
            const float y = widened<TypeParam>(b);
            const auto sum = combined<TypeParam>(a, b, ReduceOp::sum);
            const auto min = combined<TypeParam>(a, b, ReduceOp::min);
            const auto max = combined<TypeParam>(a, b, ReduceOp::max);
            ASSERT_EQ(sum, TypeParam(x + y).bits);
            ASSERT_EQ(sum, combined<TypeParam>(b, a, ReduceOp::sum)) << "the order matters";
            ASSERT_EQ(min, combined<TypeParam>(b, a, ReduceOp::min)) << "the order matters";
            ASSERT_EQ(max, combined<TypeParam>(b, a, ReduceOp::max)) << "the order matters";
            if (std::isnan(x) || std::isnan(y)) {
                ASSERT_TRUE(std::isnan(widened<TypeParam>(min)) &&
                            std::isnan(widened<TypeParam>(max)));
            } else {
                ASSERT_EQ(widened<TypeParam>(min), std::min(x, y));
                ASSERT_EQ(widened<TypeParam>(max), std::max(x, y));
            }
        }
    }
}

// Vector instructions of the processor give the bits of the scalar code, which handles the
// remainder: one pair always remains.
TYPED_TEST(SmallFloats, ArraysAreReducedAsSinglePairsAre) {
    std::mt19937 random(2);
    std::vector<std::uint16_t> a(100003);
    std::vector<std::uint16_t> b(a.size());
    for (auto& one : a) one = static_cast<std::uint16_t>(random());
    for (auto& one : b) one = static_cast<std::uint16_t>(random());
    for (const auto op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
        auto all = a;
        reduce_small_floats<typename TypeParam::format>(b.data(), all.data(), all.size(), op);
        for (std::size_t i = 0; i < all.size(); ++i)
            ASSERT_EQ(all[i], combined<TypeParam>(a[i], b[i], op)) << a[i] << " and " << b[i];
    }
}

// The vectorised part and the remainder agree.
TYPED_TEST(SmallFloats, EveryPlaceOfAnArrayIsReduced) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 31U, 1001U}) {
        std::vector<std::uint16_t> a(count);
        std::vector<std::uint16_t> b(count);
        for (std::size_t i = 0; i < count; ++i) {
            a[i] = TypeParam(static_cast<float>(i % 100)).bits;
            b[i] = TypeParam(static_cast<float>(i % 7)).bits;
        }
        reduce_small_floats<typename TypeParam::format>(b.data(), a.data(), count, ReduceOp::sum);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(widened<TypeParam>(a[i]), static_cast<float>(i % 100 + i % 7))
                << i << " of " << count;
    }
}

}  // namespace
}  // namespace ranklab::comm
