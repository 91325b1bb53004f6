#include "comm/alltoall.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/native_handle.hpp"
#include "mpi_world.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::comm {
namespace {

using testing::world;

// How many elements rank a sends to rank b: other numbers for each pair, none for some.
std::size_t count_of(int a, int b) {
    return static_cast<std::size_t>((a * 5 + b * 3) % 4) * 1000;
}
// Element i of what rank a sends to rank b.
std::int64_t element(int a, int b, std::size_t i) {
    return a * 1000000 + b * 100000 + static_cast<std::int64_t>(i);
}

TEST(Alltoallv, BringsEachPartToItsRank) {
    const int ranks = world().world_size();
    const int me = world().rank();
    std::vector<std::size_t> to;
    std::vector<std::size_t> from;
    std::vector<std::int64_t> send;
    std::vector<std::int64_t> expected;
    for (int r = 0; r < ranks; ++r) {
        to.push_back(count_of(me, r));
        from.push_back(count_of(r, me));
        for (std::size_t i = 0; i < to.back(); ++i) send.push_back(element(me, r, i));
        for (std::size_t i = 0; i < from.back(); ++i) expected.push_back(element(r, me, i));
    }
    std::vector<std::int64_t> receive(expected.size(), -1);
    const auto sent = send;
    alltoallv(world(), view(std::span(send)), to, view(std::span(receive)), from);
    EXPECT_EQ(receive, expected);
    EXPECT_EQ(send, sent) << "what is sent is not written to";
}

TEST(Alltoallv, ServesOneRankWithoutMpi) {
    std::unique_ptr<Communicator> alone;
    for (const auto& backend : backends()) {
        const auto self = world().split(world().rank(), 0);
        if (backend.name == "self") alone = backend.make(*self);
    }
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(native_mpi(*alone), nullptr);
    std::vector<double> send{1, 2, 3};
    std::vector<double> receive(3);
    const std::vector<std::size_t> three{3};
    alltoallv(*alone, view(std::span(send)), three, view(std::span(receive)), three);
    EXPECT_EQ(receive, send);
}

TEST(Alltoallv, RefusesCountsThatAreNotItsBuffers) {
    std::vector<double> buffer(3);
    std::vector<std::size_t> counts(static_cast<std::size_t>(world().world_size()), 0);
    counts[0] = 2;
    const auto sentence = tests::thrown_sentence<base::Error>(
        [&] { alltoallv(world(), view(std::span(buffer)), counts, view(std::span(buffer)), counts); });
    EXPECT_NE(sentence.find("2 elements"), std::string::npos) << sentence;
}

TEST(NativeHandle, IsThatOfMpi) {
    EXPECT_NE(native_mpi(world()), nullptr);
    const auto part = world().split(0, world().rank());
    EXPECT_NE(native_mpi(*part), native_mpi(world()));
}

}  // namespace
}  // namespace ranklab::comm
