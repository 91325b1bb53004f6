#include "comm/mpi_environment.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using testing::world;

template <class T>
class Scatterv : public ::testing::Test {};
using Types = ::testing::Types<std::int32_t, std::int64_t, double>;
TYPED_TEST_SUITE(Scatterv, Types);

// From each rank as root: parts of different lengths, some of them empty.
TYPED_TEST(Scatterv, HandsEachRankItsPart) {
    for (int root = 0; root < world().world_size(); ++root) {
        std::vector<std::size_t> counts;
        for (int rank = 0; rank < world().world_size(); ++rank)
            counts.push_back(static_cast<std::size_t>((rank * 3 + root) % 4) * 100);
        const auto me = static_cast<std::ptrdiff_t>(world().rank());
        const auto begin = std::accumulate(counts.begin(), counts.begin() + me, std::size_t{0});
        const auto all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        const bool is_root = world().rank() == root;
        std::vector<TypeParam> send(is_root ? all : 0);
        std::iota(send.begin(), send.end(), static_cast<TypeParam>(root));
        std::vector<TypeParam> receive(counts[static_cast<std::size_t>(me)], TypeParam{-1});
        scatterv(world(), view(std::span(send)),
                 is_root ? std::span<const std::size_t>(counts) : std::span<const std::size_t>(),
                 view(std::span(receive)), root);
        std::vector<TypeParam> expected(receive.size());
        std::iota(expected.begin(), expected.end(),
                  static_cast<TypeParam>(root + static_cast<int>(begin)));
        EXPECT_EQ(receive, expected);
    }
}

TEST(ScattervOf, NothingAtAll) {
    const std::vector<std::size_t> counts(static_cast<std::size_t>(world().world_size()), 0);
    const BufferView nothing{nullptr, 0, DType::i32};
    EXPECT_NO_THROW(scatterv(world(), nothing, counts, nothing, 0));
}

}  // namespace
}  // namespace ranklab::comm
