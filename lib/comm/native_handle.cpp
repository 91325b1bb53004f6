#include "comm/native_handle.hpp"

#include "comm/backends/mpi_communicator.hpp"

namespace ranklab::comm {

const void* native_mpi(const Communicator& communicator) {
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    return mpi == nullptr ? nullptr : &mpi->native();
}

}  // namespace ranklab::comm
