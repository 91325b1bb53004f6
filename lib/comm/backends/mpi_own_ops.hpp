// Reductions that the MPI library has not, or has wrong. It has no 16-bit floating-point types: their bits
// travel as MPI_UINT16_T. MPICH 4.0.2 compares unsigned numbers as signed ones, so that the least and the
// greatest of bytes come out wrong; which is tried when MPI starts. Private to comm: it shows mpi.h.
#pragma once

#include <mpi.h>

#include <array>

#include "base/pinned.hpp"
#include "comm/buffer.hpp"

namespace ranklab::comm {

class MpiOwnOps : base::Pinned {
  public:
    /// After MPI_Init; freed before MPI_Finalize, with the last communicator that shares it.
    MpiOwnOps();
    ~MpiOwnOps();

    /// Whether the library's own operation is not to be used.
    bool stands_in(DType dtype, ReduceOp op) const;
    /// Where it stands in.
    MPI_Op op(DType dtype, ReduceOp op) const;

  private:
    void free_all() noexcept;

    std::array<MPI_Op, 8> ops_;  // sum, min, max of f16, then of bf16; min and max of u8
    bool bytes_too_ = false;
};

}  // namespace ranklab::comm
