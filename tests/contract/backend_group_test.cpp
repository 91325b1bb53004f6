// Groups of ranks of each backend: splitting, several at the same time, barriers, errors.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "backend_fixture.hpp"
#include "base/error.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;

TEST_P(Backend, SplitsIntoOddAndEven) {
    const int color = comm_->rank() % 2;
    const auto part = comm_->split(color, comm_->rank());
    EXPECT_EQ(part->world_size(), (comm_->world_size() + 1 - color) / 2);
    EXPECT_EQ(part->rank(), comm_->rank() / 2);
    const auto sum = place(std::vector<std::int64_t>{comm_->rank()});
    part->allreduce(sum.view(), ReduceOp::sum);
    std::int64_t expected = 0;
    for (int r = color; r < comm_->world_size(); r += 2) expected += r;
    EXPECT_EQ(sum.values(), std::vector{expected});
}

TEST_P(Backend, SplitsInTheOrderOfTheKeys) {
    const auto backwards = comm_->split(0, -comm_->rank());
    EXPECT_EQ(backwards->world_size(), comm_->world_size());
    EXPECT_EQ(backwards->rank(), comm_->world_size() - 1 - comm_->rank());
}

// All ranks are on one node and share its steady clock.
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

// Two communicators of one backend do not mix their messages.
TEST_P(Backend, IsApartFromItsLikes) {
    const auto other = GetParam().make(world());
    const auto first = place(values<double>(rank(), 1001));
    const auto second = place(values<double>(rank() + 5, 1001));
    const auto expected_second = place(values<double>(rank() + 5, 1001));
    comm_->allreduce(expected_second.view(), ReduceOp::sum);
    auto request_second = other->start_allreduce(second.view(), ReduceOp::sum);
    auto request_first = comm_->start_allreduce(first.view(), ReduceOp::sum);
    request_first.wait();
    request_second.wait();
    EXPECT_EQ(first.values(), reduced<double>(ranks(), 1001, ReduceOp::sum));
    EXPECT_EQ(second.values(), expected_second.values());
}

// An error throws base::Error on every rank, and the communicator stays usable.
TEST_P(Backend, ARootThatIsNoRankIsRefused) {
    const auto buffer = place(values<double>(rank(), 3));
    for (const int root : {-1, comm_->world_size()}) {
        EXPECT_THROW(comm_->broadcast(buffer.view(), root), base::Error) << "root " << root;
    }
    comm_->allreduce(buffer.view(), ReduceOp::sum);
    EXPECT_EQ(buffer.values(), reduced<double>(ranks(), 3, ReduceOp::sum));
}

TEST_P(Backend, CountsThatDoNotFitAreRefused) {
    const auto send = place(std::vector<double>(3));
    const auto receive = place(std::vector<double>(3 * ranks() + 1));
    EXPECT_THROW(comm_->allgather(send.view(), receive.view()), base::Error);
    EXPECT_THROW(comm_->reduce_scatter(receive.view(), send.view(), ReduceOp::sum), base::Error);
}

// A pointer to the other memory would crash inside the library.
TEST_P(Backend, AnotherMemoryIsRefused) {
    const auto part = place(std::vector<double>(3));
    const auto whole = place(std::vector<double>(3 * ranks()));
    const auto foreign = [&](const auto& buffer) {
        auto view = buffer.view();
        view.memory = view.memory == Memory::host ? Memory::device : Memory::host;
        return view;
    };
    EXPECT_THROW(comm_->broadcast(foreign(part), 0), base::Error);
    EXPECT_THROW(comm_->allreduce(foreign(part), ReduceOp::sum), base::Error);
    EXPECT_THROW(comm_->start_allreduce(foreign(part), ReduceOp::sum), base::Error);
    EXPECT_THROW(comm_->allgather(foreign(part), whole.view()), base::Error);
    EXPECT_THROW(comm_->allgather(part.view(), foreign(whole)), base::Error);
    EXPECT_THROW(comm_->reduce_scatter(foreign(whole), part.view(), ReduceOp::sum), base::Error);
    EXPECT_THROW(comm_->reduce_scatter(whole.view(), foreign(part), ReduceOp::sum), base::Error);
}

}  // namespace
}  // namespace ranklab::comm
