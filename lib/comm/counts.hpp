// What every backend checks of its buffers before the library sees them. Private to comm.
#pragma once

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/buffer.hpp"

namespace ranklab::comm {

/// `whole` holds one `part` per rank, of the same type: a slip here would be a hang or a crash inside the
/// library.
inline void need_whole_of_parts(const BufferView& part, const BufferView& whole, int ranks,
                                const char* call) {
    if (whole.count == part.count * static_cast<std::size_t>(ranks) && whole.dtype == part.dtype) return;
    throw base::Error(
        fmt::format("internal: {} of {} elements per rank over {} ranks was given a buffer of {}", call,
                    part.count, ranks, whole.count));
}

/// For the backends that work in host memory.
template <class ErrorType>
void need_host(const BufferView& buffer, const char* backend) {
    if (buffer.memory == Memory::host) return;
    throw ErrorType(
        fmt::format("the {} backend was given GPU memory; compute elsewhere, or use another", backend),
        base::Settings{"device cpu", "backend nccl"});
}

}  // namespace ranklab::comm
