#include "comm/communicator.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/progress.hpp"

namespace ranklab::comm {
namespace {

// Throws Error unless `whole` holds one `part` per rank, of the same type: in the library a wrong
// buffer would hang or crash.
void need_whole_of_parts(const BufferView& part, const BufferView& whole, int ranks,
                         Operation operation) {
    if (whole.count == part.count * static_cast<std::size_t>(ranks) && whole.dtype == part.dtype)
        return;
    throw base::Error(
        fmt::format("internal: {} of {} elements per rank over {} ranks was given a buffer of {}",
                    name_of(operation), part.count, ranks, whole.count));
}

void run_one(Communicator& ranks, const Transfer& transfer) {
    ranks.run(transfer);
    if (transfer.receive.memory == Memory::host) base::count_progress();  // complete, not enqueued
}

}  // namespace

void Communicator::run(const Transfer& transfer) {
    transfer.operation == Operation::barrier ? barrier() : start(transfer).wait();
}

BufferView Communicator::result_of(const Transfer& transfer) const {
    BufferView result = transfer.receive;
    if (transfer.operation == Operation::reduce_scatter && transfer.in_place())
        result.count = transfer.send.count / static_cast<std::size_t>(world_size());
    if (!has_result(transfer, rank(), world_size())) result.count = 0;
    return result;
}

void Communicator::broadcast(BufferView buffer, int root) {
    if (root < 0 || root >= world_size())
        throw base::Error(
            fmt::format("internal: a broadcast from rank {} of {} ranks", root, world_size()));
    run_one(*this, {.operation = Operation::broadcast, .receive = buffer, .root = root});
}

void Communicator::allreduce(BufferView buffer, ReduceOp op) {
    run_one(*this,
            {.operation = Operation::allreduce, .send = buffer, .receive = buffer, .op = op});
}

Request Communicator::start_allreduce(BufferView buffer, ReduceOp op) {
    return start({.operation = Operation::allreduce, .send = buffer, .receive = buffer, .op = op});
}

void Communicator::allgather(BufferView send, BufferView receive) {
    need_whole_of_parts(send, receive, world_size(), Operation::allgather);
    run_one(*this, {.operation = Operation::allgather, .send = send, .receive = receive});
}

void Communicator::reduce_scatter(BufferView send, BufferView receive, ReduceOp op) {
    need_whole_of_parts(receive, send, world_size(), Operation::reduce_scatter);
    run_one(*this,
            {.operation = Operation::reduce_scatter, .send = send, .receive = receive, .op = op});
}

}  // namespace ranklab::comm
