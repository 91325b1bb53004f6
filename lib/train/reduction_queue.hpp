// Sums buffers over ranks one after another, in the background where it can.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::train {

/// How MPI progresses while backward computes. Open MPI has no progress of its own.
enum class Progress {
    /// No thread: reductions started in backward are completed after it (on a device: see push()).
    none,
    poll,    ///< backward itself, each time a gradient is ready
    thread,  ///< a thread of the rank, which sleeps between looks
};

/// How one buffer is summed.
enum class Transfer {
    /// MPI's non-blocking allreduce: needs little of the processor, so it can hide behind compute.
    background,
    /// The blocking allreduce, entered when all ranks have come: Open MPI's is two to four times as
    /// fast in shared memory, where the cores move the data.
    blocking,
};

using Clock = std::chrono::steady_clock;

/// One reduction of the last step on this rank.
struct ReductionStamp {
    std::size_t bytes = 0;
    Clock::time_point ready;  ///< this rank's part was complete
    Clock::time_point start;  ///< it was its turn: handed to the library
    /// With Transfer::blocking: all ranks were known to have come; with background: the transfer
    /// was first polled, at once or (Progress::none) after backward. On a device this and `end` are
    /// 0, since the host does not see them.
    Clock::time_point moving;
    Clock::time_point end;  ///< the sum was there
};

/// The size of a piece (measured, docs/overlap.md). In shared memory a piece that stays in the
/// cache from one rank's reading to the other's is summed faster; on a network, libnbc waits for
/// both directions of a piece before it goes on, so that small ones keep the link busy.
inline constexpr std::size_t kBlockingPieceBytes = std::size_t{8} << 20;
inline constexpr std::size_t kBackgroundPieceBytes = std::size_t{256} << 10;

class ReductionQueue {
  public:
    /// Keeps a reference. Large buffers go in pieces of `piece_bytes`, one after another (0: the
    /// measured size above); a piece's sum is the same on all ranks.
    ReductionQueue(comm::Communicator& comm, Progress progress, Transfer transfer,
                   std::size_t piece_bytes = 0);
    ~ReductionQueue();

    /// Forgets the stamps of the last step. Nothing may be under way.
    void begin_step();
    /// Adds this rank's complete part of the next reduction. All ranks push the same buffers in the
    /// same order, and k+1 starts only after k; those in device memory start at once, in a stream's
    /// order. The queue owns the buffer until finish() returns. `done`, if given, is called once
    /// the buffer is summed or the reduction has failed.
    void push(comm::BufferView buffer, std::function<void(std::exception_ptr)> done = {});
    /// The caller will only wait from here on: the thread stops sleeping.
    void hurry();
    /// A chance to move data, with Progress::poll; else nothing.
    void poll();
    /// Returns when all that was pushed is summed. Throws what the library reported.
    void finish();
    /// In the order pushed; complete after finish().
    const std::vector<ReductionStamp>& stamps() const;

  private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

}  // namespace ranklab::train
