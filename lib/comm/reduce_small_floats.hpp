// Reductions of 16-bit floating-point arrays on the CPU, for a library that has no such types. Private to
// comm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/buffer.hpp"

namespace ranklab::comm {

/// inout[i] = inout[i] op in[i]. A sum is the exact sum rounded once; -0 is below +0; a NaN on either side
/// gives NaN. In all of them the order of the two sides does not matter, down to the bits.
template <class Format>
void reduce_small_floats(const std::uint16_t* in, std::uint16_t* inout, std::size_t count, ReduceOp op);

extern template void reduce_small_floats<Float16Format>(const std::uint16_t*, std::uint16_t*, std::size_t,
                                                        ReduceOp);
extern template void reduce_small_floats<BFloat16Format>(const std::uint16_t*, std::uint16_t*, std::size_t,
                                                         ReduceOp);

}  // namespace ranklab::comm
