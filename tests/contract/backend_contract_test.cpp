// Every communication backend that serves this many ranks does what comm/communicator.hpp says.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "contract_names.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {

RANKLAB_PRINTED_BY_NAME(BackendEntry)

namespace {

using ranklab::testing::world;

TEST(Backends, HaveGoodNames) {
    ranklab::testing::expect_good_names(backends());
}

class Backend : public ::testing::TestWithParam<BackendEntry> {
  protected:
    void SetUp() override {
        const std::string reason = GetParam().refuses(world());
        if (!reason.empty()) GTEST_SKIP() << reason;
        comm_ = GetParam().make(world());
    }
    std::size_t ranks() const { return static_cast<std::size_t>(comm_->world_size()); }
    std::size_t rank() const { return static_cast<std::size_t>(comm_->rank()); }

    std::unique_ptr<Communicator> comm_;
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Backend, ::testing::ValuesIn(backends()),
                         ranklab::testing::test_name<BackendEntry>);

TEST_P(Backend, KnowsItsRanks) {
    EXPECT_EQ(comm_->rank(), world().rank());
    EXPECT_EQ(comm_->world_size(), world().world_size());
    EXPECT_EQ(comm_->backend(), GetParam().name);
    EXPECT_EQ(comm_->local_size(), comm_->world_size()) << "the ranks of this test are on one node";
    EXPECT_EQ(comm_->local_rank(), comm_->rank());
}

// Counts that are odd, a power of two, and more than an eager message of any MPI takes.
const std::vector<std::size_t> kCounts{0, 1, 2, 3, 7, 64, 1001, 100003};

/// Small whole numbers, other ones on each rank and place: their sums are exact in every type.
template <class T>
T value(std::size_t rank, std::size_t i) {
    return static_cast<T>((i * 7 + rank * 3) % 11 + rank);
}

template <class T>
std::vector<T> values(std::size_t rank, std::size_t count) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value<T>(rank, i);
    return all;
}

template <class T>
std::vector<T> reduced(std::size_t ranks, std::size_t count, ReduceOp op) {
    auto all = values<T>(0, count);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        for (std::size_t i = 0; i < count; ++i) {
            const T other = value<T>(rank, i);
            if (op == ReduceOp::sum) all[i] = static_cast<T>(all[i] + other);
            if (op == ReduceOp::min) all[i] = std::min(all[i], other);
            if (op == ReduceOp::max) all[i] = std::max(all[i], other);
        }
    }
    return all;
}

template <class Work>
void for_each_type(Work work) {
    work(std::uint8_t{});
    work(std::int32_t{});
    work(std::int64_t{});
    work(float{});
    work(double{});
}

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
                auto buffer = values<T>(rank(), count);
                comm_->broadcast(view(std::span(buffer)), static_cast<int>(root));
                EXPECT_EQ(buffer, values<T>(root, count)) << count << " elements from " << root;
            }
        }
    });
}

TEST_P(Backend, Allreduces) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            auto buffer = values<T>(rank(), count);
            comm_->allreduce(view(std::span(buffer)), op);
            EXPECT_EQ(buffer, reduced<T>(ranks(), count, op))
                << count << " elements, operation " << static_cast<int>(op);
        });
    });
}

TEST_P(Backend, StartsAllreducesAndWaits) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            auto buffer = values<T>(rank(), count);
            auto request = comm_->start_allreduce(view(std::span(buffer)), op);
            request.wait();
            EXPECT_TRUE(request.test()) << "a waited-for request is complete";
            request.wait();  // and waiting again does nothing
            EXPECT_EQ(buffer, reduced<T>(ranks(), count, op));
        });
    });
}

TEST_P(Backend, ProgressesByTestingAlone) {
    auto buffer = values<float>(rank(), 100003);
    auto request = comm_->start_allreduce(view(std::span(buffer)), ReduceOp::sum);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    bool done = request.test();
    while (!done && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        done = request.test();
    }
    EXPECT_TRUE(done);
    request.wait();
    EXPECT_EQ(buffer, reduced<float>(ranks(), 100003, ReduceOp::sum));
}

TEST_P(Backend, HasSeveralRequestsUnderWayAtOnce) {
    std::vector<std::vector<double>> buffers;
    for (std::size_t i = 0; i < 5; ++i) buffers.push_back(values<double>(rank() + i, 1001));
    auto expected = buffers;
    for (auto& one : expected) comm_->allreduce(view(std::span(one)), ReduceOp::sum);
    std::vector<Request> requests;
    for (auto& one : buffers) requests.push_back(comm_->start_allreduce(view(std::span(one)), ReduceOp::sum));
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) request->wait();
    EXPECT_EQ(buffers, expected);
}

TEST_P(Backend, ARequestThatIsDroppedIsCompleted) {
    auto buffer = values<double>(rank(), 1001);
    { const auto request = comm_->start_allreduce(view(std::span(buffer)), ReduceOp::max); }
    EXPECT_EQ(buffer, reduced<double>(ranks(), 1001, ReduceOp::max));
}

TEST_P(Backend, Allgathers) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto count : kCounts) {
            const auto mine = values<T>(rank(), count);
            std::vector<T> all(count * ranks());
            comm_->allgather(view(std::span(mine)), view(std::span(all)));
            std::vector<T> expected;
            for (std::size_t r = 0; r < ranks(); ++r) {
                const auto part = values<T>(r, count);
                expected.insert(expected.end(), part.begin(), part.end());
            }
            EXPECT_EQ(all, expected) << count << " elements";
            EXPECT_EQ(mine, values<T>(rank(), count)) << "what is sent is not written to";
        }
    });
}

TEST_P(Backend, ReduceScatters) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for_each_reduction([&](ReduceOp op, std::size_t count) {
            const auto mine = values<T>(rank(), count * ranks());
            std::vector<T> part(count);
            comm_->reduce_scatter(view(std::span(mine)), view(std::span(part)), op);
            const auto whole = reduced<T>(ranks(), count * ranks(), op);
            const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(rank() * count);
            EXPECT_EQ(part, std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count)))
                << count << " elements";
        });
    });
}

// Sums of floats depend on their order: a backend that sums in another order on each rank lets models drift
// apart.
TEST_P(Backend, AllreduceGivesAllRanksTheSameBits) {
    std::vector<float> buffer(1001);
    for (std::size_t i = 0; i < buffer.size(); ++i)
        buffer[i] = 1.0F / static_cast<float>(3 + i * 17 + rank() * 101);
    comm_->allreduce(view(std::span(buffer)), ReduceOp::sum);
    std::vector<float> all(buffer.size() * ranks());
    comm_->allgather(view(std::span(buffer)), view(std::span(all)));
    for (std::size_t r = 0; r < ranks(); ++r) {
        EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(),
                               all.begin() + static_cast<std::ptrdiff_t>(r * buffer.size())))
            << "rank " << r;
    }
}

TEST_P(Backend, SplitsIntoOddAndEven) {
    const int color = comm_->rank() % 2;
    const auto part = comm_->split(color, comm_->rank());
    EXPECT_EQ(part->world_size(), (comm_->world_size() + 1 - color) / 2);
    EXPECT_EQ(part->rank(), comm_->rank() / 2);
    EXPECT_EQ(part->backend(), GetParam().name);
    std::int64_t sum = comm_->rank();
    part->allreduce(view(std::span(&sum, 1)), ReduceOp::sum);
    std::int64_t expected = 0;
    for (int r = color; r < comm_->world_size(); r += 2) expected += r;
    EXPECT_EQ(sum, expected);
}

TEST_P(Backend, SplitsInTheOrderOfTheKeys) {
    const auto backwards = comm_->split(0, -comm_->rank());
    EXPECT_EQ(backwards->world_size(), comm_->world_size());
    EXPECT_EQ(backwards->rank(), comm_->world_size() - 1 - comm_->rank());
}

// The ranks of this test are on one node, whose steady clock is one for all processes.
TEST_P(Backend, ABarrierHoldsUntilTheLastRankComes) {
    using Clock = std::chrono::steady_clock;
    for (int late = 0; late < comm_->world_size(); ++late) {
        if (comm_->rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::int64_t came = Clock::now().time_since_epoch().count();
        comm_->barrier();
        const std::int64_t left = Clock::now().time_since_epoch().count();
        world().allreduce(view(std::span(&came, 1)), ReduceOp::max);
        EXPECT_GE(left, came) << "this rank did not wait for the last one";
    }
}

// Two communicators of one backend do not mix up their messages.
TEST_P(Backend, IsApartFromItsLikes) {
    const auto other = GetParam().make(world());
    auto first = values<double>(rank(), 1001);
    auto second = values<double>(rank() + 5, 1001);
    auto expected_second = second;
    comm_->allreduce(view(std::span(expected_second)), ReduceOp::sum);
    auto request_second = other->start_allreduce(view(std::span(second)), ReduceOp::sum);
    auto request_first = comm_->start_allreduce(view(std::span(first)), ReduceOp::sum);
    request_first.wait();
    request_second.wait();
    EXPECT_EQ(first, reduced<double>(ranks(), 1001, ReduceOp::sum));
    EXPECT_EQ(second, expected_second);
}

// Errors are exceptions of our family on every rank, and the communicator goes on working.
TEST_P(Backend, ARootThatIsNoRankIsRefused) {
    auto buffer = values<double>(rank(), 3);
    for (const int root : {-1, comm_->world_size()}) {
        EXPECT_THROW(comm_->broadcast(view(std::span(buffer)), root), base::Error) << "root " << root;
    }
    comm_->allreduce(view(std::span(buffer)), ReduceOp::sum);
    EXPECT_EQ(buffer, reduced<double>(ranks(), 3, ReduceOp::sum));
}

TEST_P(Backend, CountsThatDoNotFitAreRefused) {
    std::vector<double> send(3);
    std::vector<double> receive(3 * ranks() + 1);
    EXPECT_THROW(comm_->allgather(view(std::span(send)), view(std::span(receive))), base::Error);
    EXPECT_THROW(comm_->reduce_scatter(view(std::span(receive)), view(std::span(send)), ReduceOp::sum),
                 base::Error);
}

}  // namespace
}  // namespace ranklab::comm
