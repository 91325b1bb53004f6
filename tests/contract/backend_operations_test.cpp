// Operations (comm/operation.hpp) of every backend, in and out of place, by run() and
// start().
#include <gtest/gtest.h>

#include <array>

#include "backend_fixture.hpp"
#include "base/error.hpp"

namespace ranklab::comm {
namespace {

class Operations : public Backend {
  protected:
    // A transfer with `count` elements per rank's part, and its buffers.
    template <class T>
    struct Made {
        Placed<T> send, receive;
        Transfer transfer;
    };

    // Elements first .. first + count - 1 of the sums over ranks.
    template <class T>
    std::vector<T> sums(std::size_t first, std::size_t count) const {
        const auto all = reduced<T>(ranks(), first + count, ReduceOp::sum);
        return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
    }
    template <class T>
    std::vector<T> part(std::size_t of, std::size_t which, std::size_t count) const {
        const auto all = values<T>(of, (which + 1) * count);
        return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
    }

    template <class T>
    Made<T> out_of_place(Operation operation, std::size_t count) {
        const std::size_t n = ranks();
        const bool wide_in =
            operation == Operation::reduce_scatter || operation == Operation::alltoall;
        const bool wide_out = operation == Operation::allgather || operation == Operation::alltoall;
        Made<T> made{place(values<T>(rank(), count * (wide_in ? n : 1))),
                     place(std::vector<T>(count * (wide_out ? n : 1))), Transfer{}};
        made.transfer.operation = operation;
        made.transfer.send = made.send.view();
        made.transfer.receive = made.receive.view();
        return made;
    }
    template <class T>
    std::vector<T> expected(Operation operation, std::size_t count) const {
        const std::size_t n = ranks();
        std::vector<T> all;
        const auto add = [&](const std::vector<T>& more) {
            all.insert(all.end(), more.begin(), more.end());
        };
        switch (operation) {
            case Operation::allreduce:
                return sums<T>(0, count);
            case Operation::reduce:
                return rank() == 0 ? sums<T>(0, count) : std::vector<T>(count);
            case Operation::reduce_scatter:
                return sums<T>(rank() * count, count);
            case Operation::sendrecv:
                return values<T>((rank() + n - 1) % n, count);
            case Operation::latency:
                return rank() != 0 && rank() + 1 != n ? std::vector<T>(count)
                                                      : values<T>(rank() == 0 ? n - 1 : 0, count);
            case Operation::bandwidth:
                return rank() + 1 == n ? values<T>(0, count) : std::vector<T>(count);
            case Operation::allgather:
                for (std::size_t r = 0; r < n; ++r) add(values<T>(r, count));
                return all;
            case Operation::alltoall:
                for (std::size_t r = 0; r < n; ++r) add(part<T>(r, rank(), count));
                return all;
            default:
                return values<T>(0, count);
        }
    }
    // Compares with the expected result; expects unchanged contents on ranks without a result.
    template <class T>
    void expect_result(const Made<T>& made, Operation operation, std::size_t count,
                       const char* how) {
        const auto right = expected<T>(operation, count);
        const auto got = made.receive.values();
        if (operation == Operation::reduce && rank() != 0) {
            EXPECT_EQ(comm_->result_of(made.transfer).count, 0U) << "only the root has a result";
            return;
        }
        ASSERT_GE(got.size(), right.size());
        EXPECT_EQ(
            std::vector<T>(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(right.size())),
            right)
            << name_of(operation) << " of " << count << ", " << how;
    }
    bool is_for(Operation operation) const { return !is_between_two(operation) || ranks() > 1; }
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Operations, ::testing::ValuesIn(backends()),
                         ranklab::testing::test_name<BackendEntry>);

constexpr std::array kCounts{std::size_t{1}, std::size_t{7}, std::size_t{1001}};
constexpr std::array kMoving{Operation::allreduce,      Operation::reduce,   Operation::allgather,
                             Operation::reduce_scatter, Operation::alltoall, Operation::sendrecv,
                             Operation::latency,        Operation::bandwidth};

TEST_P(Operations, RunOutOfPlaceAgainAndAgain) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto operation : kMoving) {
            if (!is_for(operation)) continue;
            ASSERT_TRUE(GetParam().offers(operation, false));
            for (const auto count : kCounts) {
                const auto made = this->template out_of_place<T>(operation, count);
                for (int again = 0; again < 3; ++again) comm_->run(made.transfer);
                this->expect_result(made, operation, count, "run");
                EXPECT_EQ(made.send.values(), values<T>(rank(), made.transfer.send.count))
                    << "what is sent is not written to";
            }
        }
    });
}

TEST_P(Operations, StartAndWaitGiveTheSame) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto operation : kMoving) {
            if (is_between_two(operation)) continue;
            const auto made = this->template out_of_place<T>(operation, 1001);
            comm_->start(made.transfer).wait();
            auto request = comm_->start(made.transfer);
            while (!request.test()) {
            }
            this->expect_result(made, operation, 1001, "start");
        }
    });
}

// Both are under way at once, and end in the other order.
TEST_P(Operations, ShardsTravelInTheBackground) {
    for_each_type([&](auto type) {
        using T = decltype(type);
        for (const auto count : kCounts) {
            const auto scatter = this->template out_of_place<T>(Operation::reduce_scatter, count);
            const auto gather = this->template out_of_place<T>(Operation::allgather, count);
            auto first = comm_->start(scatter.transfer);
            auto second = comm_->start(gather.transfer);
            second.wait();
            first.wait();
            this->expect_result(scatter, Operation::reduce_scatter, count, "started");
            this->expect_result(gather, Operation::allgather, count, "started");
        }
    });
    const auto part = place(std::vector<float>(3)),
               whole = place(std::vector<float>(3 * ranks() + 1));
    EXPECT_THROW(comm_->allgather(part.view(), whole.view()), base::Error);
    EXPECT_THROW(comm_->reduce_scatter(whole.view(), part.view(), ReduceOp::sum), base::Error);
}

TEST_P(Operations, WorkInPlace) {
    const std::size_t count = 1001;
    const std::size_t n = ranks();
    const auto run = [&](Operation operation, const Placed<float>& whole, std::size_t first_sent,
                         std::size_t sent, std::size_t received) {
        Transfer transfer{.operation = operation};
        transfer.receive = whole.view();
        transfer.receive.count = received;
        transfer.send = whole.view();
        transfer.send.data = static_cast<float*>(whole.view().data) + first_sent;
        transfer.send.count = sent;
        EXPECT_TRUE(transfer.in_place());
        comm_->run(transfer);
        const auto result = comm_->result_of(transfer);
        const auto begin =
            static_cast<const float*>(result.data) - static_cast<const float*>(whole.view().data);
        const auto all = whole.values();
        return std::vector<float>(all.begin() + begin,
                                  all.begin() + begin + static_cast<std::ptrdiff_t>(result.count));
    };
    const auto reduced = place(values<float>(rank(), count));
    EXPECT_EQ(run(Operation::allreduce, reduced, 0, count, count), sums<float>(0, count));
    const auto rooted = place(values<float>(rank(), count));
    EXPECT_EQ(run(Operation::reduce, rooted, 0, count, count),
              rank() == 0 ? sums<float>(0, count) : std::vector<float>());
    const auto sent = place(rank() == 0 ? values<float>(0, count) : std::vector<float>(count));
    EXPECT_EQ(run(Operation::broadcast, sent, 0, count, count), values<float>(0, count));
    std::vector<float> own(count * n);
    std::ranges::copy(values<float>(rank(), count),
                      own.begin() + static_cast<std::ptrdiff_t>(rank() * count));
    const auto gathered = place(own);
    EXPECT_EQ(run(Operation::allgather, gathered, rank() * count, count, count * n),
              expected<float>(Operation::allgather, count));
    const auto scattered = place(values<float>(rank(), count * n));
    EXPECT_EQ(run(Operation::reduce_scatter, scattered, 0, count * n, count * n),
              sums<float>(rank() * count, count));
    if (!GetParam().offers(Operation::alltoall, true)) return;
    const auto exchanged = place(values<float>(rank(), count * n));
    EXPECT_EQ(run(Operation::alltoall, exchanged, 0, count * n, count * n),
              expected<float>(Operation::alltoall, count));
}

TEST_P(Operations, AnAverageIsASumOverTheRanks) {
    const std::size_t count = 100;
    const auto made = out_of_place<double>(Operation::allreduce, count);
    Transfer transfer = made.transfer;
    transfer.average = true;
    comm_->run(transfer);
    const auto sum = sums<double>(0, count);
    const auto got = made.receive.values();
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_DOUBLE_EQ(got[i], sum[i] / static_cast<double>(ranks())) << i;
}

TEST_P(Operations, ABarrierIsLeftByAll) {
    const Transfer barrier{.operation = Operation::barrier};
    comm_->run(barrier);
    comm_->start(barrier).wait();
    EXPECT_EQ(comm_->result_of(barrier).count, 0U);
}

}  // namespace
}  // namespace ranklab::comm
