// The last step of an average where the library has none: every element over the number of ranks.
#pragma once

#include "comm/buffer.hpp"

namespace ranklab::comm {

/// In host memory, in place; integers are cut off towards zero, as C++ does.
void divide(const BufferView& buffer, int by);

}  // namespace ranklab::comm
