#include "train/reduction_queue.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/progress.hpp"

namespace ranklab::train {
namespace {

// Limits of the thread's sleep between polls. The thread polls about four times per piece, but not
// so often that waking up costs too much, nor so rarely that a link idles. Measured at 1 Gbit/s,
// where a piece takes 2 ms (docs/overlap.md).
constexpr std::chrono::microseconds kShortestNap{20};
constexpr std::chrono::microseconds kLongestNap{250};

// In device memory a stream orders and executes reductions, and the library splits buffers.
bool is_streamed(const comm::BufferView& buffer) {
    return buffer.memory == comm::Memory::device;
}

const char* name_of(const std::optional<comm::Transfer>& other) {
    if (!other) return "reduce a bucket";
    return other->operation == comm::Operation::allgather ? "gather a bucket" : "scatter a bucket";
}

std::size_t piece_of(Transfer transfer, std::size_t wanted) {
    if (wanted > 0) return wanted;
    return transfer == Transfer::blocking ? kBlockingPieceBytes : kBackgroundPieceBytes;
}

}  // namespace

// The reduction of one buffer, piece by piece. advance() does not block with Transfer::background;
// with Transfer::blocking it blocks once all ranks are ready.
class ReductionQueue::Reduction {
  public:
    Reduction(comm::Communicator& comm, comm::BufferView buffer, Transfer transfer,
              std::size_t piece_bytes, const std::optional<comm::Transfer>& other)
        : comm_(comm),
          rest_(buffer),
          other_(other),
          transfer_(is_streamed(buffer) ? Transfer::background : transfer) {
        const std::size_t piece =
            is_streamed(buffer) ? buffer.count : piece_bytes / comm::size_of(buffer.dtype);
        piece_ = std::max<std::size_t>(1, piece);
        if (other_) rest_.count = 0;
        if (transfer_ == Transfer::blocking)
            request_ = comm_.start_allreduce({&here_, 1, comm::DType::u8}, comm::ReduceOp::max);
        else if (other_)
            request_ = comm_.start(*other_);
        else
            start_piece();
    }

    // Drives the reduction; true once the sum is complete.
    bool advance() {
        if (transfer_ == Transfer::background) {
            // No data moves before the first poll.
            if (moving_ == Clock::time_point()) moving_ = Clock::now();
            return advance_pieces();
        }
        if (!request_.test()) return false;
        moving_ = Clock::now();
        if (other_) comm_.run(*other_);
        while (rest_.count > 0) comm_.allreduce(next_piece(), comm::ReduceOp::sum);
        return true;
    }
    // Drives the reduction to its end, blocking.
    void complete() {
        while (!advance()) request_.wait();
    }
    Clock::time_point moving() const { return moving_; }
    Clock::duration nap() const {
        return std::clamp<Clock::duration>(piece_time_ / 4, kShortestNap, kLongestNap);
    }
    // Leaks the request: the job is ending, and the other ranks may never take part.
    void abandon() { request_.abandon(); }

  private:
    // Polls a piece right after starting it, since the first poll sends the piece's first part.
    bool advance_pieces() {
        while (request_.test()) {
            piece_time_ = Clock::now() - piece_start_;
            if (rest_.count == 0) return true;
            start_piece();
        }
        return false;
    }
    comm::BufferView next_piece() {
        comm::BufferView piece = rest_;
        piece.count = std::min(piece_, rest_.count);
        rest_.data = static_cast<char*>(rest_.data) + piece.bytes();
        rest_.count -= piece.count;
        return piece;
    }
    void start_piece() {
        piece_start_ = Clock::now();
        request_ = comm_.start_allreduce(next_piece(), comm::ReduceOp::sum);
    }

    comm::Communicator& comm_;
    comm::BufferView rest_;
    std::optional<comm::Transfer> other_;
    Transfer transfer_;
    std::size_t piece_ = 1;
    std::uint8_t here_ = 1;
    Clock::time_point moving_;
    Clock::time_point piece_start_;
    Clock::duration piece_time_{};
    comm::Request request_;
};

ReductionQueue::ReductionQueue(comm::Communicator& comm, Progress progress, Transfer transfer,
                               std::size_t piece_bytes, std::size_t most_under_way)
    : comm_(comm),
      progress_(progress),
      threaded_(progress == Progress::thread || progress == Progress::waiting),
      transfer_(transfer),
      piece_bytes_(piece_of(transfer, piece_bytes)),
      // No blocking operation may come between two starts: ranks could differ in the order.
      most_under_way_(transfer == Transfer::blocking ? 1 : most_under_way) {
    if (threaded_) thread_ = std::thread([this] { serve(); });
}

ReductionQueue::~ReductionQueue() {
    if (!threaded_) {
        abandon();
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ReductionQueue::begin_step() {
    const std::lock_guard lock(mutex_);
    stamps_.clear();
    next_ = started_ = wanted_ = 0;
    hurry_ = false;
}

void ReductionQueue::push(comm::BufferView buffer, std::function<void(std::exception_ptr)> done,
                          const std::optional<comm::Transfer>& other) {
    const auto now = Clock::now();
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({buffer, std::move(done), other, nullptr});
        stamps_.push_back(
            {.bytes = buffer.bytes(), .ready = now, .start = {}, .moving = {}, .end = {}});
    }
    if (threaded_)
        changed_.notify_all();
    else
        start_what_may();
}

void ReductionQueue::hurry() {
    {
        const std::lock_guard lock(mutex_);
        hurry_ = true;
        wanted_ = stamps_.size();
    }
    changed_.notify_all();
}

void ReductionQueue::wait(std::size_t count) {
    if (threaded_) return wait_for_thread(count);
    for (start_what_may(); next_ < count; start_what_may()) {
        {
            const base::Annotation mark("reduce a bucket");
            under_way_.front().reduction->complete();
        }
        complete_first();
    }
}

// mutex_ must be locked.
bool ReductionQueue::next_may_start() const {
    if (waiting_.empty()) return false;
    if (progress_ == Progress::waiting && started_ >= wanted_ &&
        !is_streamed(waiting_.front().buffer))
        return false;
    return under_way_.size() < most_under_way_ ||
           (is_streamed(waiting_.front().buffer) && is_streamed(under_way_.back().buffer));
}

// Starts reductions until most_under_way_ are under way; in device memory all, in stream order.
void ReductionQueue::start_what_may() {
    std::unique_lock lock(mutex_);
    while (next_may_start()) {
        under_way_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
        stamps_[started_++].start = Clock::now();
        lock.unlock();
        Task& task = under_way_.back();
        if (threaded_ && base::annotation_hooks.load() != nullptr)
            task.mark = std::make_unique<base::Annotation>(name_of(task.other));
        task.reduction =
            std::make_unique<Reduction>(comm_, task.buffer, transfer_, piece_bytes_, task.other);
        lock.lock();
    }
}

void ReductionQueue::complete_first() {
    const Task task = std::move(under_way_.front());
    under_way_.pop_front();
    const auto now = Clock::now();
    base::count_progress();
    if (task.done) task.done(nullptr);
    {
        const std::lock_guard lock(mutex_);
        ReductionStamp& stamp = stamps_[next_++];
        if (!is_streamed(task.buffer)) {
            stamp.moving = task.reduction->moving();
            stamp.end = now;
        }
    }
    changed_.notify_all();
    start_what_may();
}

void ReductionQueue::advance() {
    start_what_may();
    while (!under_way_.empty() && under_way_.front().reduction->advance()) complete_first();
}

void ReductionQueue::abandon() {
    for (auto& task : under_way_)
        if (task.reduction) task.reduction->abandon();
}

void ReductionQueue::wait_for_thread(std::size_t count) {
    std::unique_lock lock(mutex_);
    hurry_ = true;
    wanted_ = std::max(wanted_, count);
    changed_.notify_all();
    changed_.wait(lock, [&] { return next_ >= count || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    hurry_ = false;
}

void ReductionQueue::serve() {
    // Lets Linux lengthen a sleep by 1 us at most; the default is 50 us.
    prctl(PR_SET_TIMERSLACK, 1000UL);
    try {
        while (wait_for_work()) advance();
    } catch (...) {
        fail(std::current_exception());
    }
    abandon();
}

// Sleeps until there is work. Returns false once the queue is being destroyed.
bool ReductionQueue::wait_for_work() {
    if (!under_way_.empty()) return !nap_or_end();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ || next_may_start(); });
    return !ends_;
}

bool ReductionQueue::nap_or_end() {
    std::unique_lock lock(mutex_);
    if (hurry_ && !ends_) {
        lock.unlock();
        std::this_thread::yield();
        return false;
    }
    changed_.wait_for(lock, under_way_.front().reduction->nap(),
                      [this] { return hurry_ || ends_ || next_may_start(); });
    return ends_;
}

void ReductionQueue::fail(std::exception_ptr error) {
    {
        const std::lock_guard lock(mutex_);
        failure_ = error;
    }
    changed_.notify_all();
    if (!under_way_.empty() && under_way_.front().done) under_way_.front().done(error);
}

}  // namespace ranklab::train
