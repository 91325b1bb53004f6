// Operations that are prepared once and called many times, for measurements: the same on every
// backend that offers them. Training calls the Communicator instead.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "comm/communicator.hpp"

namespace ranklab::comm {

enum class Operation {
    allreduce,
    broadcast,
    reduce,
    allgather,
    reduce_scatter,
    alltoall,
    sendrecv,   ///< to the next rank, from the one before
    barrier,    ///< no buffers
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
/// In place: reduce_scatter's `receive` holds the whole, all others' what it says above, and `send`
/// lies in it: the whole of it (allreduce, reduce, alltoall, reduce_scatter) or this rank's part
/// (allgather). broadcast is always in place: it has `receive` alone.
struct Transfer {
    Operation operation = Operation::allreduce;
    BufferView send = {};
    BufferView receive = {};
    ReduceOp op = ReduceOp::sum;
    bool average = false;  ///< of a sum: divided by the number of ranks; integers are cut off
    int root = 0;          ///< of broadcast and reduce

    bool in_place() const {
        const auto* const begin = static_cast<const char*>(receive.data);
        const auto* const mine = static_cast<const char*>(send.data);
        return operation == Operation::broadcast ||
               (mine != nullptr && mine >= begin && mine < begin + receive.bytes());
    }
};

/// A transfer that its backend has prepared. Its buffers must outlive it. Collective, as the
/// operation is; for device memory see communicator.hpp.
class Prepared {
  public:
    virtual ~Prepared() = default;
    /// Once, from beginning to end.
    virtual void run() = 0;
    /// Starts the operation and returns; the ranks may work meanwhile. One at a time.
    virtual Request start() = 0;

    /// Where this rank's result is after it: in place, a backend may leave it in another part.
    virtual BufferView result() const = 0;
};

/// Messages from one end to the other that one run() of this operation stands for.
constexpr int messages_of(Operation operation) {
    constexpr int kWindow = 64;  // as OSU's osu_bw
    return operation == Operation::bandwidth ? kWindow : operation == Operation::latency ? 2 : 1;
}
constexpr bool reduces(Operation operation) {
    return operation == Operation::allreduce || operation == Operation::reduce ||
           operation == Operation::reduce_scatter;
}
constexpr bool is_between_two(Operation operation) {
    return operation == Operation::latency || operation == Operation::bandwidth;
}
/// Whether `rank` has a part in it: of two ranks' operations the others have none.
constexpr bool takes_part(Operation operation, int rank, int ranks) {
    return !is_between_two(operation) || rank == 0 || rank == ranks - 1;
}
/// Whether `rank` receives anything by it.
constexpr bool has_result(const Transfer& transfer, int rank, int ranks) {
    if (transfer.operation == Operation::reduce) return rank == transfer.root;
    if (transfer.operation == Operation::bandwidth) return rank == ranks - 1;
    return transfer.operation != Operation::barrier && takes_part(transfer.operation, rank, ranks);
}
/// Whether it has that form in MPI, and so on most backends.
constexpr bool has_form(Operation operation, bool in_place) {
    if (operation == Operation::broadcast) return in_place;
    return !in_place || operation == Operation::alltoall || operation == Operation::allgather ||
           reduces(operation);
}

}  // namespace ranklab::comm
