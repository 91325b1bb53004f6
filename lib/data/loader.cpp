#include "data/loader.hpp"

#include <sched.h>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/phase.hpp"
#include "base/progress.hpp"

namespace ranklab::data {
namespace {

// Puts large batches into huge pages if Linux has them: in small pages each column of a rotated
// crop would be written to a different page.
std::shared_ptr<std::byte> plain_memory(std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kHugePage = std::size_t{1} << 21U;
    const auto alignment = std::align_val_t(bytes < kHugePage ? kLine : kHugePage);
    auto* const memory = static_cast<std::byte*>(::operator new(std::max(bytes, kLine), alignment));
    // A hint, which Linux may ignore.
    if (bytes >= kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
    return {memory, [alignment](std::byte* p) { ::operator delete(p, alignment); }};
}

// With the scheduling policy "batch" a reading thread that wakes up does not preempt the training
// thread on a shared core. If the system refuses it, reading still works.
void yield_to_others() {
#ifdef SCHED_BATCH
    const sched_param none{};
    static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &none));
#endif
}

}  // namespace

Loader::Loader(const Source& source, const Config& config)
    : source_(source),
      config_(config),
      input_bytes_(source.layout().input.bytes()),
      target_bytes_(source.layout().target.bytes()),
      slots_(config.workers > 0 ? std::max(config.prefetch, 0) + 1 : 1) {
    try {
        for (int i = 0; i < config.workers; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
        stop();
        throw base::EnvironmentError(
            fmt::format("{} loader threads cannot be started ({}); use fewer", config.workers,
                        error.code().message()),
            {"workers"});
    }
}

void Loader::start(Plan plan, std::int64_t first, std::int64_t count) {
    std::unique_lock lock(mutex_);
    for (auto& slot : slots_) slot.skip();
    idle_.wait(lock, [this] { return active_ == 0; });
    for (auto& slot : slots_) slot.reset();
    reserve();
    plan_ = std::move(plan);
    first_ = given_ = planned_ = first;
    end_ = first + count;
    plan_ahead();
}

const Batch& Loader::next() {
    std::unique_lock lock(mutex_);
    if (given_ >= end_)
        throw base::Error("the loader was asked for more batches than were planned");
    plan_ahead();  // the previous batch's slot is free now
    Slot& slot = slot_of(given_);
    while (!slot.ready())
        if (!threads_.empty() || !read_some(lock)) batch_ready_.wait(lock);
    ++given_;
    if (slot.error) std::rethrow_exception(slot.error);
    return slot.batch;
}

Loader::Slot& Loader::slot_of(std::int64_t b) {
    return slots_[static_cast<std::size_t>(b - first_) % slots_.size()];
}

// Allocates on the consumer's thread: pinned memory belongs to the GPU that the thread selected.
void Loader::reserve() {
    const std::size_t samples = config_.batch;
    const auto allocate = config_.allocate ? config_.allocate : Allocate(plain_memory);
    for (auto& slot : slots_) {
        if (!slot.batch.input) slot.batch.input = allocate(samples * input_bytes_);
        if (!slot.batch.target) slot.batch.target = allocate(samples * target_bytes_);
    }
}

void Loader::plan_ahead() {
    for (; planned_ < std::min(end_, given_ + std::ssize(slots_)); ++planned_) {
        Slot& slot = slot_of(planned_);
        slot.reset();
        try {
            auto draws = plan_(planned_);
            if (std::ssize(draws) > config_.batch)
                throw base::Error(
                    fmt::format("batch {} was planned with {} samples, the loader has room for {}",
                                planned_, draws.size(), config_.batch));
            slot.draws = std::move(draws);
            slot.batch.count = std::ssize(slot.draws);
        } catch (...) {  // next() rethrows it for this batch
            slot.fail(0, std::current_exception());
        }
    }
    work_ready_.notify_all();
}

void Loader::work() {
    yield_to_others();
    std::unique_lock lock(mutex_);
    while (!stopping_)
        if (!read_some(lock)) work_ready_.wait(lock);
}

void Loader::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (auto& slot : slots_) slot.skip();
    }
    work_ready_.notify_all();
    for (auto& thread : threads_) thread.join();
}

// Releases the lock and reads samples of the oldest batch that has unread samples. Returns false if
// no batch has any.
bool Loader::read_some(std::unique_lock<std::mutex>& lock) {
    std::int64_t oldest = given_;
    while (oldest < planned_ && !slot_of(oldest).has_work()) ++oldest;
    if (oldest == planned_) return false;
    Slot& slot = slot_of(oldest);
    const std::size_t first = slot.taken;
    const std::size_t last = std::min(first + samples_at_once(), slot.draws.size());
    slot.taken = last;
    ++active_;
    lock.unlock();
    ReadTimes times;
    std::exception_ptr error;
    std::size_t sample = first;
    try {
        const base::Annotation mark("loader: read samples");
        for (; sample < last; ++sample)
            source_.read(slot.draws[sample], slot.batch.input.get() + sample * input_bytes_,
                         slot.batch.target.get() + sample * target_bytes_, times);
    } catch (...) {
        error = std::current_exception();
    }
    base::count_progress();
    lock.lock();
    if (--active_ == 0) idle_.notify_one();
    slot.batch.times += times;
    slot.done += last - first;
    if (error) slot.fail(sample, error);
    if (slot.ready()) batch_ready_.notify_one();
    return true;
}

// The number of samples that a worker takes per lock: few, so that all workers finish a batch
// together, but more if samples are small, since each lock costs time.
std::size_t Loader::samples_at_once() const {
    constexpr std::size_t kWorthALock = 65536;  // bytes; reading them takes some microseconds
    const std::size_t workers = std::max(config_.workers, 1);
    const std::size_t fair = static_cast<std::size_t>(config_.batch) / (4 * workers);
    return std::clamp<std::size_t>(
        kWorthALock / std::max<std::size_t>(input_bytes_ + target_bytes_, 1), 1,
        std::max<std::size_t>(fair, 1));
}

}  // namespace ranklab::data
