#include "data/formats/volume_form.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/numbers.hpp"

namespace ranklab::data {
namespace {

TEST(Sum64, DoesNotDependOnTheOrderAndSeesEachBit) {
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
    const std::uint64_t whole = sum64(0, values);
    const std::span<const float> view(values);
    EXPECT_EQ(sum64(700, view.subspan(700)) + sum64(0, view.first(700)), whole);
    for (const std::size_t i : {0U, 1U, 500U, 999U}) {
        auto changed = values;
        changed[i] = std::nextafter(changed[i], 2.0F);
        EXPECT_NE(sum64(0, changed), whole) << i;
    }
    auto swapped = values;
    std::swap(swapped[3], swapped[4]);
    EXPECT_NE(sum64(0, swapped), whole);
    EXPECT_EQ(sum64_text(0x123), "sum64:0000000000000123");
}

TEST(Share, CoversAllOnce) {
    for (const std::int64_t total : {0, 1, 5, 22, 64, 10000, 60001})
        for (const int ranks : {1, 2, 3, 4, 7}) {
            std::int64_t next = 0;
            for (int r = 0; r < ranks; ++r) {
                const base::Share share = base::share_of(total, r, ranks);
                EXPECT_EQ(share.first, next);
                EXPECT_LE(base::share_of(total, 0, ranks).count - share.count, 1);
                next = share.end();
            }
            EXPECT_EQ(next, total);
        }
}

}  // namespace
}  // namespace ranklab::data
