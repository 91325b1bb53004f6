#include "comm/point_to_point.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/counts.hpp"
#include "comm/mpi_check.hpp"

namespace ranklab::comm {
namespace {

MPI_Comm native(const Communicator& communicator) {
    if (const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator)) return mpi->native();
    throw base::OptionError(fmt::format("the {} backend sends no messages from rank to rank; use another",
                                        communicator.backend()),
                            {"backend mpi"});
}

void need_rank(const Communicator& communicator, int rank) {
    if (rank >= 0 && rank < communicator.world_size()) return;
    throw base::Error(fmt::format("internal: a message for rank {} of {}", rank, communicator.world_size()));
}

int source_of(const Communicator& communicator, int from) {
    if (from == kAnyRank) return MPI_ANY_SOURCE;
    need_rank(communicator, from);
    return from;
}

Arrival arrival_of(const MPI_Status& status, DType dtype) {
    int count = 0;
    mpi_check(MPI_Get_count(&status, mpi_type(dtype), &count), "MPI_Get_count");
    return {status.MPI_SOURCE, static_cast<std::size_t>(count)};
}

void need_parts(const Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
                const BufferView& receive) {
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const std::size_t ranks = communicator.world_size();
    const std::size_t mine = communicator.rank();
    if (counts.size() == ranks && sum == send.count && counts[mine] == receive.count &&
        send.dtype == receive.dtype)
        return;
    throw base::Error(
        fmt::format("internal: a scatterv over {} ranks was given {} counts of {} elements together, to send "
                    "{}, and room for {}",
                    ranks, counts.size(), sum, send.count, receive.count));
}

}  // namespace

void send(Communicator& communicator, const BufferView& message, int to, int tag) {
    need_host<base::Error>(message, "host");
    need_rank(communicator, to);
    mpi_done(MPI_Send(message.data, mpi_count(message.count), mpi_type(message.dtype), to, tag,
                      native(communicator)),
             "MPI_Send");
}

Arrival receive(Communicator& communicator, const BufferView& buffer, int from, int tag) {
    need_host<base::Error>(buffer, "host");
    const int source = source_of(communicator, from);
    MPI_Status status;
    mpi_done(MPI_Recv(buffer.data, mpi_count(buffer.count), mpi_type(buffer.dtype), source, tag,
                      native(communicator), &status),
             "MPI_Recv");
    return arrival_of(status, buffer.dtype);
}

std::optional<Arrival> probe(Communicator& communicator, int from, int tag, DType dtype) {
    const int source = source_of(communicator, from);
    int there = 0;
    MPI_Status status;
    mpi_check(MPI_Iprobe(source, tag, native(communicator), &there, &status), "MPI_Iprobe");
    return there != 0 ? std::optional(arrival_of(status, dtype)) : std::nullopt;
}

void scatterv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
              const BufferView& receive, int root) {
    need_host<base::Error>(receive, "host");
    const bool is_root = communicator.rank() == root;
    if (is_root) {
        need_host<base::Error>(send, "host");
        need_parts(communicator, send, counts, receive);
    }
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    if (mpi == nullptr && communicator.world_size() > 1) {
        throw base::OptionError(fmt::format("the {} backend does not scatter parts to ranks; use another",
                                            communicator.backend()),
                                {"backend mpi"});
    }
    if (mpi == nullptr) {
        if (receive.count > 0) std::memcpy(receive.data, send.data, receive.bytes());
        return;
    }
    std::vector<int> lengths;
    std::vector<int> begins;
    if (is_root) {
        static_cast<void>(mpi_count(send.count));  // then every begin fits too
        int begin = 0;
        for (const std::size_t count : counts) {
            lengths.push_back(static_cast<int>(count));
            begins.push_back(begin);
            begin += lengths.back();
        }
    }
    const MPI_Datatype type = mpi_type(receive.dtype);
    mpi_done(MPI_Scatterv(send.data, lengths.data(), begins.data(), type, receive.data,
                          mpi_count(receive.count), type, root, mpi->native()),
             "MPI_Scatterv");
}

const void* native_mpi(const Communicator& communicator) {
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    return mpi == nullptr ? nullptr : &mpi->native();
}

}  // namespace ranklab::comm
