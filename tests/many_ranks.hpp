// A communicator that plays a job of as many ranks as a test wants: what it is given as this
// rank's, it gives all others in their own way. It counts what is exchanged.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::testing {

class ManyRanks final : public comm::Communicator {
  public:
    /// `others`: makes another rank's part of this one's, in place; where there is none, all have
    /// the same.
    using Others = std::function<void(int rank, comm::BufferView part)>;

    explicit ManyRanks(int ranks, Others others = {}, int rank = 0)
        : ranks_(ranks), rank_(rank), others_(std::move(others)) {}

    /// Adds the rank's number to each real number.
    static void add_rank(int rank, comm::BufferView part) {
        if (part.dtype != comm::DType::f64) return;
        for (double& value : std::span(static_cast<double*>(part.data), part.count)) value += rank;
    }

    int rank() const override { return rank_; }
    int world_size() const override { return ranks_; }
    int local_rank() const override { return rank_; }
    int local_size() const override { return ranks_; }

    void barrier() override { ++calls; }
    comm::Request start(const comm::Transfer& transfer) override {
        note(transfer.receive.bytes());
        if (transfer.operation == comm::Operation::allreduce)
            reduce(transfer.receive, transfer.op);
        else if (transfer.operation == comm::Operation::allgather)
            gather(transfer.send, transfer.receive);
        else if (transfer.operation != comm::Operation::broadcast)
            throw std::logic_error("not played");
        return {};
    }
    std::unique_ptr<comm::Communicator> split(int, int) override {
        return std::make_unique<ManyRanks>(ranks_, others_, rank_);
    }

    std::size_t calls = 0;
    std::size_t bytes = 0;    ///< that this rank got, of all calls
    std::size_t largest = 0;  ///< of one call

  private:
    void reduce(comm::BufferView buffer, comm::ReduceOp op) const {
        if (!others_) {
            if (op == comm::ReduceOp::sum) throw std::logic_error("sums of ranks that are alike");
            return;
        }
        if (buffer.dtype != comm::DType::f64) return;
        const std::span mine(static_cast<double*>(buffer.data), buffer.count);
        std::vector<double> all(mine.begin(), mine.end()), other;
        for (int rank = 0; rank < ranks_; ++rank) {
            if (rank == rank_) continue;
            other.assign(mine.begin(), mine.end());
            others_(rank, comm::view(std::span(other)));
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i] = op == comm::ReduceOp::sum   ? all[i] + other[i]
                         : op == comm::ReduceOp::max ? std::max(all[i], other[i])
                                                     : std::min(all[i], other[i]);
        }
        std::ranges::copy(all, mine.begin());
    }
    void gather(const comm::BufferView& send, const comm::BufferView& receive) const {
        for (int rank = 0; rank < ranks_ && send.bytes() > 0; ++rank) {
            comm::BufferView part = send;
            part.data = static_cast<std::byte*>(receive.data) +
                        static_cast<std::size_t>(rank) * send.bytes();
            std::memcpy(part.data, send.data, send.bytes());
            if (others_ && rank != rank_) others_(rank, part);
        }
    }
    void note(std::size_t received) {
        ++calls;
        bytes += received;
        largest = std::max(largest, received);
    }

    int ranks_, rank_;
    Others others_;
};

}  // namespace ranklab::testing
