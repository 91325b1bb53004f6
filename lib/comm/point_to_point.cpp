#include "comm/point_to_point.hpp"

#include <mpi.h>

#include <numeric>
#include <vector>

#include "comm/backends/mpi_communicator.hpp"

namespace ranklab::comm {
namespace {

MPI_Comm native(const Communicator& communicator) {
    return dynamic_cast<const MpiCommunicator&>(communicator).native();
}

}  // namespace

void send(Communicator& communicator, const BufferView& message, int to, int tag) {
    mpi_done(MPI_Send(message.data, mpi_count(message.count), mpi_type(message.dtype), to, tag,
                      native(communicator)),
             "MPI_Send");
}

void receive(Communicator& communicator, const BufferView& buffer, int from, int tag) {
    mpi_done(MPI_Recv(buffer.data, mpi_count(buffer.count), mpi_type(buffer.dtype), from, tag,
                      native(communicator), MPI_STATUS_IGNORE),
             "MPI_Recv");
}

void scatterv(Communicator& communicator, const BufferView& send,
              std::span<const std::size_t> counts, const BufferView& receive, int root) {
    std::vector<int> lengths, begins;
    if (communicator.rank() == root) {
        static_cast<void>(mpi_count(send.count));  // throws, unless every offset fits an int
        lengths.assign(counts.begin(), counts.end());
        begins.resize(counts.size());
        std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
    }
    const MPI_Datatype type = mpi_type(receive.dtype);
    mpi_done(MPI_Scatterv(send.data, lengths.data(), begins.data(), type, receive.data,
                          mpi_count(receive.count), type, root, native(communicator)),
             "MPI_Scatterv");
}

const void* native_mpi(const Communicator& communicator) {
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    return mpi == nullptr ? nullptr : &mpi->native();
}

}  // namespace ranklab::comm
