// Sums buffers over ranks in order, in the background if possible.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/phase.hpp"
#include "comm/communicator.hpp"

namespace ranklab::train {

/// What drives MPI's progress during backward: Open MPI makes progress only within calls.
enum class Progress {
    /// Nothing: reductions started in backward complete after backward (on a device: see push()).
    none,
    poll,    ///< backward, each time a gradient is ready
    thread,  ///< a thread, which sleeps between polls
    /// A thread that works only while the caller waits, so that it takes no core from compute.
    waiting,
};

/// Which allreduce sums a buffer.
enum class Transfer {
    /// MPI's non-blocking allreduce, which needs little CPU time and can overlap with compute.
    background,
    /// The blocking allreduce, entered once all ranks are ready. In shared memory, where the cores
    /// move the data, it is two to four times as fast as the non-blocking one (Open MPI).
    blocking,
};

using Clock = std::chrono::steady_clock;

/// One reduction of the last step on this rank.
struct ReductionStamp {
    std::size_t bytes = 0;
    Clock::time_point ready;  ///< this rank's part is complete
    Clock::time_point start;  ///< handed to the library, after the reductions before it
    /// Data may move from this time on. Transfer::blocking: all ranks are ready.
    /// Transfer::background: the first poll, at once or (Progress::none) after backward. On a
    /// device `moving` and `end` are 0, since the host cannot see them.
    Clock::time_point moving;
    Clock::time_point end;  ///< the sum is complete
};

/// The piece sizes measured to be fastest (docs/overlap.md). In shared memory a piece that stays in
/// the cache between the ranks' reads is summed faster. On a network Open MPI's libnbc waits for
/// both directions of a piece before it continues, so small pieces keep the link busy.
inline constexpr std::size_t kBlockingPieceBytes = std::size_t{8} << 20;
inline constexpr std::size_t kBackgroundPieceBytes = std::size_t{256} << 10;

/// With Progress::thread and waiting a thread of the queue calls MPI, otherwise the caller of push,
/// poll and wait.
class ReductionQueue {
  public:
    /// Keeps a reference to `comm`. Sums large buffers in pieces of `piece_bytes` (0: the constant
    /// above for `transfer`), one after another. At most `most_under_way` operations are under way
    /// at a time.
    ReductionQueue(comm::Communicator& comm, Progress progress, Transfer transfer,
                   std::size_t piece_bytes = 0, std::size_t most_under_way = 1);
    /// Reductions are still under way only if an error is ending the job. Abandons them instead of
    /// waiting: the other ranks may never take part.
    ~ReductionQueue();

    /// Clears the stamps of the last step. No reduction may be under way.
    void begin_step();
    /// Adds this rank's complete part of the next reduction. All ranks must push the same buffers
    /// in the same order. The reduction starts once fewer than `most_under_way` are under way; in
    /// device memory at once, in stream order. The buffer must not be used until finish() returns.
    /// Calls `done` once the buffer is summed or the reduction has failed. `other`: an operation to
    /// make instead of summing `buffer`.
    void push(comm::BufferView buffer, std::function<void(std::exception_ptr)> done = {},
              const std::optional<comm::Transfer>& other = {});
    /// Tells the thread that the caller only waits from now on, so that the thread stops sleeping.
    void hurry();
    /// Drives progress with Progress::poll; otherwise does nothing.
    void poll() {
        if (progress_ == Progress::poll) advance();
    }
    /// Waits until the first `count` operations since begin_step() are complete. Throws the
    /// communicator's errors.
    void wait(std::size_t count);
    /// Waits until all pushed buffers are summed. Throws the communicator's errors.
    void finish() { wait(stamps_.size()); }
    /// In the order of push(); complete after finish().
    const std::vector<ReductionStamp>& stamps() const { return stamps_; }

  private:
    class Reduction;
    struct Task {
        comm::BufferView buffer;
        std::function<void(std::exception_ptr)> done;
        std::optional<comm::Transfer> other;
        std::unique_ptr<Reduction> reduction;
        std::unique_ptr<base::Annotation> mark = {};  // shows the reduction in a trace
    };

    bool next_may_start() const;
    void start_what_may();
    void complete_first();
    void advance();
    void abandon();
    void wait_for_thread(std::size_t count);
    void serve();
    bool wait_for_work();
    bool nap_or_end();
    void fail(std::exception_ptr error);

    comm::Communicator& comm_;
    Progress progress_;
    bool threaded_;
    Transfer transfer_;
    std::size_t piece_bytes_, most_under_way_;

    std::mutex mutex_;  // guards the members up to failure_
    std::condition_variable changed_;
    std::deque<Task> waiting_;
    std::vector<ReductionStamp> stamps_;
    std::size_t next_ = 0;     // first reduction that is not complete
    std::size_t started_ = 0;  // first reduction that is not started
    std::size_t wanted_ = 0;   // reductions that the caller waits for
    bool hurry_ = false;       // the caller only waits
    bool ends_ = false;
    std::exception_ptr failure_;

    // Only for the thread that calls MPI:
    std::deque<Task> under_way_;  // in device memory any number, ordered by a stream
    std::thread thread_;
};

}  // namespace ranklab::train
