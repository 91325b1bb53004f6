// MPI's counts are int: what is longer goes as one element of a type that is long enough, or in pieces.
// Private to comm: it shows mpi.h.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "base/pinned.hpp"
#include "comm/buffer.hpp"

namespace ranklab::comm {

/// `count` elements of a type, as the count and type of a call that moves them and does not reduce.
class MpiLength : base::Pinned {
  public:
    MpiLength(std::size_t count, MPI_Datatype element);
    ~MpiLength();

    int count() const { return count_; }
    MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_;
    int count_ = 0;
    bool owned_ = false;
};

/// Where a reduction's pieces begin, and how long they are: at least one, which may be empty.
struct MpiPiece {
    std::size_t begin_bytes = 0;
    int count = 0;
};
std::vector<MpiPiece> mpi_pieces(const BufferView& buffer);

}  // namespace ranklab::comm
