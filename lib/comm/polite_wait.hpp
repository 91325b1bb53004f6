// Waiting for ranks that work alone, without taking the processors from them.
#pragma once

#include <functional>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Collective: a barrier. Who waits sleeps between looks (0.2 ms at first, 2 ms later) where MPI's own
/// barrier would spin on a core that a worker process could use, and calls `beat` at each look: for the
/// watchdog. What `beat` throws ends the wait on this rank, and the barrier is then left open: the job is to
/// end.
void wait_politely(Communicator& control, const std::function<void()>& beat);

}  // namespace ranklab::comm
