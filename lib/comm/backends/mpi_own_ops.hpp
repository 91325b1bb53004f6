// Reductions that MPI has not: of 16-bit floating-point numbers, whose bits travel as MPI_UINT16_T. Private
// to comm: it shows mpi.h.
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
    static bool stands_in(DType dtype);
    /// Where it stands in.
    MPI_Op op(DType dtype, ReduceOp op) const;

  private:
    void free_all() noexcept;

    std::array<MPI_Op, 6> ops_;  // sum, min, max of f16, then of bf16
};

}  // namespace ranklab::comm
