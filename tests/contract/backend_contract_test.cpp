// Every communication backend that serves this many ranks does what comm/communicator.hpp says.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "backend_fixture.hpp"
#include "base/error.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;

TEST(Backends, HaveGoodNames) {
    ranklab::testing::expect_good_names(backends());
}

// make() throws the reason of refuses() on all ranks, and no rank hangs.
TEST(Backends, WhatRefusesThrowsTheSameSentence) {
    for (const auto& entry : backends()) {
        const std::string reason = entry.refuses(world());
        std::string thrown;
        try {
            entry.make(world());
        } catch (const base::Error& error) {
            thrown = error.what();
            EXPECT_NE(error.code(), base::ExitCode::internal) << entry.name;
        }
        EXPECT_EQ(thrown, reason) << entry.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Backend, ::testing::ValuesIn(backends()),
                         ranklab::testing::test_name<BackendEntry>);

TEST_P(Backend, KnowsItsRanks) {
    EXPECT_EQ(comm_->rank(), world().rank());
    EXPECT_EQ(comm_->world_size(), world().world_size());
    EXPECT_EQ(comm_->local_size(), comm_->world_size()) << "the ranks of this test are on one node";
    EXPECT_EQ(comm_->local_rank(), comm_->rank());
    EXPECT_NE(GetParam().library(), "") << "what was measured is recorded";
}

// Counts: odd, a power of two, and above the eager limit of any MPI.
const std::vector<std::size_t> kCounts{0, 1, 2, 3, 7, 64, 1001, 100003};

template <class Work>
void for_each_reduction(Work work) {
    for (const auto op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
        for (const auto count : kCounts) work(op, count);
    }
}

TEST_P(Backend, BroadcastsFromEachRoot) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto count : kCounts) {
            for (std::size_t root = 0; root < ranks(); ++root) {
                const auto buffer = place(values<T>(rank(), count));
                comm_->broadcast(buffer.view(), static_cast<int>(root));
                EXPECT_EQ(buffer.values(), values<T>(root, count))
                    << count << " elements from " << root;
            }
        }
    });
}

TEST_P(Backend, Allreduces) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            const auto buffer = place(values<T>(rank(), count));
            comm_->allreduce(buffer.view(), op);
            EXPECT_EQ(buffer.values(), reduced<T>(ranks(), count, op))
                << count << " elements, operation " << static_cast<int>(op);
        });
    });
}

TEST_P(Backend, StartsAllreducesAndWaits) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            const auto buffer = place(values<T>(rank(), count));
            auto request = comm_->start_allreduce(buffer.view(), op);
            request.wait();
            EXPECT_TRUE(request.test()) << "a waited-for request is complete";
            request.wait();  // and waiting again does nothing
            EXPECT_EQ(buffer.values(), reduced<T>(ranks(), count, op));
        });
    });
}

TEST_P(Backend, ProgressesByTestingAlone) {
    const auto buffer = place(values<float>(rank(), 100003));
    auto request = comm_->start_allreduce(buffer.view(), ReduceOp::sum);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    bool done = request.test();
    while (!done && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        done = request.test();
    }
    EXPECT_TRUE(done);
    request.wait();
    EXPECT_EQ(buffer.values(), reduced<float>(ranks(), 100003, ReduceOp::sum));
}

TEST_P(Backend, HasSeveralRequestsUnderWayAtOnce) {
    std::vector<Placed<double>> buffers;
    std::vector<Placed<double>> expected;
    for (std::size_t i = 0; i < 5; ++i) {
        buffers.push_back(place(values<double>(rank() + i, 1001)));
        expected.push_back(place(values<double>(rank() + i, 1001)));
    }
    for (const auto& one : expected) comm_->allreduce(one.view(), ReduceOp::sum);
    std::vector<Request> requests;
    for (const auto& one : buffers)
        requests.push_back(comm_->start_allreduce(one.view(), ReduceOp::sum));
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) request->wait();
    for (std::size_t i = 0; i < buffers.size(); ++i)
        EXPECT_EQ(buffers[i].values(), expected[i].values());
}

TEST_P(Backend, ARequestThatIsDroppedIsCompleted) {
    const auto buffer = place(values<double>(rank(), 1001));
    { const auto request = comm_->start_allreduce(buffer.view(), ReduceOp::max); }
    EXPECT_EQ(buffer.values(), reduced<double>(ranks(), 1001, ReduceOp::max));
}

TEST_P(Backend, Allgathers) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto count : kCounts) {
            const auto mine = place(values<T>(rank(), count));
            const auto all = place(std::vector<T>(count * ranks()));
            comm_->allgather(mine.view(), all.view());
            std::vector<T> expected;
            for (std::size_t r = 0; r < ranks(); ++r) {
                const auto part = values<T>(r, count);
                expected.insert(expected.end(), part.begin(), part.end());
            }
            EXPECT_EQ(all.values(), expected) << count << " elements";
            EXPECT_EQ(mine.values(), values<T>(rank(), count)) << "what is sent is not written to";
        }
    });
}

TEST_P(Backend, ReduceScatters) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            const auto mine = place(values<T>(rank(), count * ranks()));
            const auto part = place(std::vector<T>(count));
            comm_->reduce_scatter(mine.view(), part.view(), op);
            const auto whole = reduced<T>(ranks(), count * ranks(), op);
            const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(rank() * count);
            EXPECT_EQ(part.values(),
                      std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count)))
                << count << " elements";
        });
    });
}

// Sums of floats depend on the order: a different order on each rank would let models drift apart.
TEST_P(Backend, AllreduceGivesAllRanksTheSameBits) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        std::vector<T> start(1001);
        for (std::size_t i = 0; i < start.size(); ++i)
            start[i] = static_cast<T>(100.0F / static_cast<float>(3 + i * 17 + rank() * 101));
        const auto buffer = place(start);
        const auto all = place(std::vector<T>(start.size() * ranks()));
        comm_->allreduce(buffer.view(), ReduceOp::sum);
        comm_->allgather(buffer.view(), all.view());
        const auto mine = buffer.values();
        const auto everyones = all.values();
        for (std::size_t r = 0; r < ranks(); ++r) {
            EXPECT_TRUE(
                std::equal(mine.begin(), mine.end(),
                           everyones.begin() + static_cast<std::ptrdiff_t>(r * mine.size())))
                << "rank " << r;
        }
    });
}

// One after the other on the same buffer, without host synchronisation in between.
TEST_P(Backend, KeepsItsOperationsInOrder) {
    const auto buffer = place(values<std::int64_t>(rank(), 1001));
    comm_->allreduce(buffer.view(), ReduceOp::sum);
    comm_->allreduce(buffer.view(), ReduceOp::sum);
    comm_->broadcast(buffer.view(), 0);
    comm_->synchronize();
    auto expected = reduced<std::int64_t>(ranks(), 1001, ReduceOp::sum);
    for (auto& one : expected) one *= static_cast<std::int64_t>(ranks());
    EXPECT_EQ(buffer.values(), expected);
}

}  // namespace
}  // namespace ranklab::comm
