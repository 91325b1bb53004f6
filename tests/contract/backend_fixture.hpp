// The fixture of the tests of communication backends, buffers in the backend's own memory, and
// values whose reductions are exact in every type.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "comm/backend.hpp"
#include "contract_names.hpp"
#include "device/gpus.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {

RANKLAB_PRINTED_BY_NAME(BackendEntry)

/// Values in the backend's memory. Copies run on the compute stream without synchronisation, so
/// that a backend that is not ordered with that stream fails.
template <class T>
class Placed {
  public:
    Placed(Memory memory, std::vector<T> values) : memory_(memory), values_(std::move(values)) {
        if (memory_ == Memory::host) return;
        device_ = device::Buffer(bytes());
        device::copy_to_device(device_.data(), values_.data(), bytes(), device::compute_stream());
    }
    BufferView view() const {
        void* host = const_cast<T*>(values_.data());
        return {.data = memory_ == Memory::host ? host : device_.data(),
                .count = values_.size(),
                .dtype = dtype_of<T>(),
                .memory = memory_};
    }
    std::vector<T> values() const {
        if (memory_ == Memory::host) return values_;
        std::vector<T> copy(values_.size());
        device::copy_to_host(copy.data(), device_.data(), bytes(), device::compute_stream());
        device::synchronize(device::compute_stream());
        return copy;
    }

  private:
    std::size_t bytes() const { return values_.size() * sizeof(T); }

    Memory memory_;
    std::vector<T> values_;
    device::Buffer device_;
};

class Backend : public ::testing::TestWithParam<BackendEntry> {
  protected:
    void SetUp() override {
        const std::string reason = GetParam().refuses(ranklab::testing::world());
        if (!reason.empty()) GTEST_SKIP() << reason;
        comm_ = GetParam().make(ranklab::testing::world());
    }
    std::size_t ranks() const { return static_cast<std::size_t>(comm_->world_size()); }
    std::size_t rank() const { return static_cast<std::size_t>(comm_->rank()); }

    template <class T>
    Placed<T> place(std::vector<T> values) const {
        return Placed<T>(GetParam().memory, std::move(values));
    }

    std::unique_ptr<Communicator> comm_;
};

/// Small whole numbers that differ by rank and index; their sums are exact in every type.
template <class T>
T value(std::size_t rank, std::size_t i) {
    return static_cast<T>(static_cast<float>((i * 7 + rank * 3) % 11 + rank));
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
    work(Float16{});
    work(BFloat16{});
}

}  // namespace ranklab::comm
