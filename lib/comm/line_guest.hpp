// The other ranks' side of the lifeline's handshake. Private to comm and its tests.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "comm/line_socket.hpp"

namespace ranklab::comm {

struct LinePatience {
    std::chrono::milliseconds first{2000};  ///< of one try; each round of tries waits twice as long
    std::chrono::milliseconds all{40000};
};

/// Tries the places in turn until one answers as rank 0 does (another machine may have the same address), or
/// patience ends, or `stop` becomes readable: then an empty socket.
Socket reach_rank_0(std::span<const std::string> places, const LineKeys& keys, int rank, int stop,
                    LinePatience patience);

}  // namespace ranklab::comm
