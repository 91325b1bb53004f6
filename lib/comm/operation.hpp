// The operations of communicators, and their buffers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/element.hpp"
#include "comm/small_floats.hpp"

namespace ranklab::comm {

using DType = base::Element;
using base::size_of;
enum class Memory { host, device };

/// `count` elements at `data`, not owned.
struct BufferView {
    void* data = nullptr;
    std::size_t count = 0;
    DType dtype = DType::u8;
    Memory memory = Memory::host;

    std::size_t bytes() const { return count * size_of(dtype); }
};

/// The C++ types of elements, in the order of DType.
using CppTypes =
    std::tuple<std::uint8_t, std::int32_t, std::int64_t, float, double, Float16, BFloat16>;

/// The DType of T; u8 for every type of one byte.
template <class T, std::size_t i = 0>
constexpr DType dtype_of() {
    if constexpr (sizeof(T) == 1 || std::is_same_v<T, std::tuple_element_t<i, CppTypes>>)
        return static_cast<DType>(i);
    else
        return dtype_of<T, i + 1>();
}

/// Calls visit(T{}) with the C++ type of `dtype`.
template <std::size_t i = 0, class Visit>
auto visit_type(DType dtype, Visit visit) {
    if constexpr (i + 1 < std::tuple_size_v<CppTypes>)
        if (dtype != static_cast<DType>(i)) return visit_type<i + 1>(dtype, visit);
    return visit(std::tuple_element_t<i, CppTypes>{});
}

/// A view of contiguous host memory. Collectives that only send it do not write to it.
template <class T, std::size_t N>
BufferView view(std::span<T, N> values) {
    return {const_cast<void*>(static_cast<const void*>(values.data())), values.size(),
            dtype_of<std::remove_const_t<T>>()};
}

enum class Operation {
    allreduce,
    broadcast,
    reduce,
    allgather,
    reduce_scatter,
    alltoall,
    sendrecv,   ///< to the next rank, from the one before
    barrier,    ///< without buffers
    latency,    ///< a ping-pong between the first rank and the last
    bandwidth,  ///< many messages from the first rank to the last, then a short answer
};
inline constexpr std::array<std::string_view, 10> kOperationNames{
    "allreduce", "broadcast", "reduce",  "allgather", "reduce_scatter",
    "alltoall",  "sendrecv",  "barrier", "latency",   "bandwidth"};
constexpr std::string_view name_of(Operation operation) {
    return kOperationNames.at(static_cast<std::size_t>(operation));
}

/// Element counts of the operations. With n ranks and `count` elements of a rank's part:
///   allreduce, broadcast, reduce, sendrecv, latency, bandwidth: send and receive hold `count`
///   allgather: send `count`, receive n x count; reduce_scatter: the other way round; alltoall:
///   both n x count
/// In place `send` lies in `receive`: all of it (allreduce, reduce, alltoall, reduce_scatter) or
/// this rank's part (allgather). reduce_scatter's `receive` then holds n x count. broadcast is
/// always in place and has only `receive`.
struct Transfer {
    Operation operation = Operation::allreduce;
    BufferView send = {};
    BufferView receive = {};
    ReduceOp op = ReduceOp::sum;
    bool average = false;  ///< divide the sum by the number of ranks; integers truncate
    int root = 0;          ///< of broadcast and reduce

    bool in_place() const {
        const auto* const begin = static_cast<const char*>(receive.data);
        const auto* const mine = static_cast<const char*>(send.data);
        return operation == Operation::broadcast ||
               (mine >= begin && mine < begin + std::max<std::size_t>(1, receive.bytes()));
    }
};

/// One-way messages in one run().
constexpr int messages_of(Operation operation) {
    constexpr int kWindow = 64;  // messages, as in osu_bw
    return operation == Operation::bandwidth ? kWindow : operation == Operation::latency ? 2 : 1;
}
constexpr bool reduces(Operation operation) {
    return operation == Operation::allreduce || operation == Operation::reduce ||
           operation == Operation::reduce_scatter;
}
constexpr bool is_between_two(Operation operation) {
    return operation == Operation::latency || operation == Operation::bandwidth;
}
/// False for the ranks that an operation between two ranks leaves out.
constexpr bool takes_part(Operation operation, int rank, int ranks) {
    return !is_between_two(operation) || rank == 0 || rank == ranks - 1;
}
/// Whether `rank` receives a result.
constexpr bool has_result(const Transfer& transfer, int rank, int ranks) {
    if (transfer.operation == Operation::reduce) return rank == transfer.root;
    if (transfer.operation == Operation::bandwidth) return rank == ranks - 1;
    return transfer.operation != Operation::barrier && takes_part(transfer.operation, rank, ranks);
}
/// Whether MPI, and so most backends, has the operation, in-place or with separate buffers.
constexpr bool has_form(Operation operation, bool in_place) {
    if (operation == Operation::broadcast) return in_place;
    return !in_place || operation == Operation::alltoall || operation == Operation::allgather ||
           reduces(operation);
}

}  // namespace ranklab::comm
