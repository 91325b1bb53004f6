#include "comm/point_to_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
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

// Waits by probing only.
int probed(int from, int tag) {
    for (;;) {
        if (const auto there = probe(world(), from, tag)) return *there;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

TEST(PointToPoint, EachRankReceivesWhatWasSentToIt) {
    if (me() == 0) {
        for (int to = 1; to < ranks(); ++to) send_message(to);
        for (int from = 1; from < ranks(); ++from) {
            auto values = message(from, 0);
            std::ranges::fill(values, -1);
            EXPECT_EQ(receive(world(), view(std::span(values)), from, kTag), from);
            EXPECT_EQ(values, message(from, 0));
        }
    } else {
        auto values = message(0, me());
        std::ranges::fill(values, -1);
        EXPECT_EQ(receive(world(), view(std::span(values)), 0, kTag), 0);
        EXPECT_EQ(values, message(0, me()));
        send_message(0);
    }
}

TEST(PointToPoint, FromAnyRankTheSourceIsTold) {
    if (me() != 0) {
        const std::int64_t mine = me() * 11;
        send(world(), view(std::span(&mine, 1)), 0, kTag);
        return;
    }
    std::set<int> sources;
    for (int i = 1; i < ranks(); ++i) {
        std::int64_t value = 0;
        const int source = receive(world(), view(std::span(&value, 1)), kAnyRank, kTag);
        EXPECT_EQ(value, source * 11);
        sources.insert(source);
    }
    EXPECT_EQ(sources.size(), static_cast<std::size_t>(ranks() - 1));
}

TEST(PointToPoint, ProbingFindsWhatHasComeAndTakesNothing) {
    EXPECT_FALSE(probe(world(), kAnyRank, kTag + 1)) << "nobody sends this tag yet";
    world().barrier();
    if (me() != 0) {
        std::vector<std::int64_t> three(3, me());
        send(world(), view(std::span(three)), 0, kTag + 1);
    } else {
        for (int i = 1; i < ranks(); ++i) {
            const int first = probed(kAnyRank, kTag + 1);
            EXPECT_EQ(probed(first, kTag + 1), first);
            std::vector<std::int64_t> values(3);
            receive(world(), view(std::span(values)), first, kTag + 1);
            EXPECT_EQ(values, std::vector<std::int64_t>(3, first));
        }
        EXPECT_FALSE(probe(world(), kAnyRank, kTag + 1));
    }
    world().barrier();
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
