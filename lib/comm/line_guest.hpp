// The lower side of the lifeline's handshake. Private to comm and its tests.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "comm/line_socket.hpp"

namespace ranklab::comm {

struct LinePatience {
    std::chrono::milliseconds first{2000};  ///< of one try; each round of tries waits twice as long
    std::chrono::milliseconds all{40000};
};

/// Whose door it is, and how to be let in.
struct LineTarget {
    int rank = 0;
    std::vector<std::string> places = {};
    LineKeys keys = {};
};

struct Reached {
    int rank = -1;  ///< whose door it was
    Socket socket = {};
};

/// Tries the places of the first target in turn until one answers as that rank does (another machine may have
/// the same address); the others' too, once three quarters of the patience are over, or at once where the
/// first one has no places. Nothing where patience
/// ends, or `stop` becomes readable.
Reached reach(std::span<const LineTarget> targets, int rank, int stop, LinePatience patience);

}  // namespace ranklab::comm
