// MPI has no 16-bit floating-point types: their bits travel as MPI_UINT16_T, and these operations reduce
// them. Private to comm: it shows mpi.h.
#pragma once

#include <mpi.h>

#include <array>

#include "base/pinned.hpp"
#include "comm/buffer.hpp"

namespace ranklab::comm {

class MpiSmallFloats : base::Pinned {
  public:
    /// After MPI_Init; freed before MPI_Finalize, with the last communicator that shares it.
    MpiSmallFloats();
    ~MpiSmallFloats();

    MPI_Op op(DType dtype, ReduceOp op) const;

  private:
    void free_all() noexcept;

    std::array<MPI_Op, 6> ops_;  // sum, min, max of f16, then of bf16
};

}  // namespace ranklab::comm
