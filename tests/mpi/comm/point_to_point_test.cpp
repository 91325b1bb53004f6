#include "comm/mpi_environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "mpi_world.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::comm {
namespace {

using testing::world;

constexpr int kTag = 5;

int me() {
    return world().rank();
}
int ranks() {
    return world().world_size();
}

// A different number of elements for each pair of ranks, 0 for some.
std::vector<std::int64_t> message(int from, int to) {
    std::vector<std::int64_t> values(static_cast<std::size_t>((from * 5 + to * 3) % 4) * 1000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = from * 1000000 + to * 100000 + static_cast<int>(i);
    return values;
}

void send_message(int to) {
    const auto values = message(me(), to);
    send(world(), view(std::span(values)), to, kTag);
}

TEST(PointToPoint, EachRankReceivesWhatWasSentToIt) {
    if (me() == 0) {
        for (int to = 1; to < ranks(); ++to) send_message(to);
        for (int from = 1; from < ranks(); ++from) {
            auto values = message(from, 0);
            std::ranges::fill(values, -1);
            receive(world(), view(std::span(values)), from, kTag);
            EXPECT_EQ(values, message(from, 0));
        }
    } else {
        auto values = message(0, me());
        std::ranges::fill(values, -1);
        receive(world(), view(std::span(values)), 0, kTag);
        EXPECT_EQ(values, message(0, me()));
        send_message(0);
    }
}

TEST(PointToPoint, TagsAreToldApart) {
    if (ranks() == 1) GTEST_SKIP() << "needs another rank";
    if (me() == 0) {
        const std::int32_t values[] = {70, 71};
        send(world(), view(std::span(values).first(1)), 1, 70);
        send(world(), view(std::span(values).last(1)), 1, 71);
    } else if (me() == 1) {
        std::int32_t later = 0;
        std::int32_t earlier = 0;
        receive(world(), view(std::span(&later, 1)), 0, 71);
        receive(world(), view(std::span(&earlier, 1)), 0, 70);
        EXPECT_EQ(later, 71);
        EXPECT_EQ(earlier, 70);
    }
}

TEST(PointToPoint, AMessageThatIsTooLongIsAnError) {
    if (me() == 0 && ranks() > 1) {
        const std::vector<std::int32_t> two(2);
        send(world(), view(std::span(two)), 1, kTag);
    } else if (me() == 1) {
        std::int32_t one = 0;
        const auto sentence = tests::thrown_sentence<base::Error>(
            [&] { receive(world(), view(std::span(&one, 1)), 0, kTag); });
        EXPECT_NE(sentence.find("MPI_Recv"), std::string::npos) << sentence;
    }
}

}  // namespace
}  // namespace ranklab::comm
