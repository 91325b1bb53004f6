#include "data/loader.hpp"

#include <sched.h>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/annotation.hpp"
#include "base/error.hpp"
#include "base/progress.hpp"

namespace ranklab::data {
namespace {

// Allocates large batches in huge pages where the kernel has them: otherwise each column of a
// rotated crop would be written to a page of its own.
std::shared_ptr<std::byte> plain_memory(std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kHugePage = std::size_t{1} << 21U;
    const auto alignment = std::align_val_t(bytes < kHugePage ? kLine : kHugePage);
    auto* const memory = static_cast<std::byte*>(::operator new(std::max(bytes, kLine), alignment));
    // The kernel may ignore this.
    if (bytes >= kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
    return {memory, [alignment](std::byte* p) { ::operator delete(p, alignment); }};
}

// A reading thread that wakes up would take a shared core from the training thread just when that
// one asks for its batch. With the scheduling policy "batch" it waits for its turn, since batches
// are made ahead. A refusal by the system changes nothing.
void yield_to_others() {
#ifdef SCHED_BATCH
    const sched_param none{};
    static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &none));
#endif
}

}  // namespace

// A step of work is a few samples of the oldest unfinished batch, so that all workers together make
// the batch that is needed first, or the plan of one more batch. Without workers next() makes the
// steps.
class Loader::State {
  public:
    State(const Source& source, const Config& config)
        : source_(source),
          config_(config),
          input_bytes_(source.layout().input.bytes()),
          target_bytes_(source.layout().target.bytes()),
          slots_(config.workers > 0 ? static_cast<std::size_t>(std::max(config.prefetch, 0)) + 1
                                    : 1) {
        try {
            for (int i = 0; i < config.workers; ++i) threads_.emplace_back([this] { work(); });
        } catch (const std::system_error& error) {
            stop();
            throw base::EnvironmentError(
                fmt::format("{} loader threads cannot be started ({}); take fewer", config.workers,
                            error.code().message()),
                {"workers"});
        }
    }
    ~State() { stop(); }

    void start(Plan plan, std::int64_t first, std::int64_t count) {
        std::unique_lock lock(mutex_);
        end_ = given_;  // no more plans, no more samples of the old ones
        for (auto& slot : slots_) slot.skip();
        idle_.wait(lock, [this] { return active_ == 0; });
        for (auto& slot : slots_) slot.reset();
        reserve();
        plan_ = std::move(plan);
        first_ = given_ = planned_ = first;
        end_ = first + count;
        in_use_ = false;
        lock.unlock();
        work_ready_.notify_all();
    }

    const Batch& next() {
        std::unique_lock lock(mutex_);
        if (given_ >= end_)
            throw base::Error("the loader was asked for more batches than were planned");
        in_use_ = false;
        work_ready_.notify_one();  // a slot became free
        if (threads_.empty()) {
            while (!is_ready()) step(lock);
        } else {
            batch_ready_.wait(lock, [this] { return is_ready(); });
        }
        in_use_ = true;
        const Slot& slot = slot_of(given_++);
        if (slot.error) std::rethrow_exception(slot.error);
        return slot.batch;
    }

  private:
    // A batch from its plan to its use. All but the bytes of samples being read is guarded by the
    // loader's mutex.
    struct Slot {
        Batch batch;
        std::vector<Draw> draws;
        bool planned = false;
        std::size_t taken = 0;  ///< samples that are being read or have been
        std::size_t done = 0;
        std::size_t failed_at = 0;  ///< the sample of `error`
        std::exception_ptr error;

        bool ready() const { return planned && done == draws.size(); }
        bool has_work() const { return planned && taken < draws.size(); }
        void plan(std::vector<Draw> samples) {
            draws = std::move(samples);
            planned = true;
            batch.count = std::ssize(draws);
            batch.times = {};
        }
        // The first sample's error stands, whichever thread met it; what is not begun is left out.
        void fail(std::size_t sample, std::exception_ptr why) {
            if (!error || sample < failed_at) {
                error = std::move(why);
                failed_at = sample;
            }
            skip();
        }
        void skip() {
            done += draws.size() - taken;
            taken = draws.size();
        }
        void reset() {
            draws.clear();
            planned = false;
            taken = done = 0;
            error = nullptr;
        }
    };

    Slot& slot_of(std::int64_t b) {
        return slots_[static_cast<std::size_t>(b - first_) % slots_.size()];
    }
    bool is_ready() { return given_ < planned_ && slot_of(given_).ready(); }
    bool may_plan() const {
        const std::int64_t oldest = in_use_ ? given_ - 1 : given_;
        return !planning_ && planned_ < std::min(end_, oldest + std::ssize(slots_));
    }

    // On the caller's thread: pinned memory wants the caller's GPU.
    void reserve() {
        const std::size_t samples = config_.batch;
        const auto allocate = config_.allocate ? config_.allocate : Allocate(plain_memory);
        for (auto& slot : slots_) {
            if (!slot.batch.input) slot.batch.input = allocate(samples * input_bytes_);
            if (!slot.batch.target) slot.batch.target = allocate(samples * target_bytes_);
        }
    }

    void work() {
        yield_to_others();
        std::unique_lock lock(mutex_);
        while (!stopping_)
            if (!step(lock)) work_ready_.wait(lock);
    }

    void stop() noexcept {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            end_ = given_;
            for (auto& slot : slots_) slot.skip();
        }
        work_ready_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    // False where there is nothing to do.
    bool step(std::unique_lock<std::mutex>& lock) {
        for (std::int64_t b = given_; b < planned_; ++b) {
            if (!slot_of(b).has_work()) continue;
            read_some(slot_of(b), lock);
            return true;
        }
        if (!may_plan()) return false;
        plan_one(lock);
        return true;
    }

    void plan_one(std::unique_lock<std::mutex>& lock) {
        const std::int64_t b = planned_++;
        Slot& slot = slot_of(b);
        slot.reset();
        planning_ = true;
        std::vector<Draw> draws;
        std::exception_ptr error;
        begin(lock);
        try {
            draws = plan_(b);
            if (std::ssize(draws) > config_.batch)
                throw base::Error(
                    fmt::format("batch {} was planned with {} samples, the loader has room for {}",
                                b, draws.size(), config_.batch));
        } catch (...) {
            draws.clear();
            error = std::current_exception();
        }
        end(lock);
        planning_ = false;
        if (b >= end_) draws.clear();  // it is not needed any more
        slot.plan(std::move(draws));
        if (error) slot.fail(0, error);
        if (slot.ready()) batch_ready_.notify_one();
        work_ready_.notify_all();
    }

    void read_some(Slot& slot, std::unique_lock<std::mutex>& lock) {
        const std::size_t first = slot.taken;
        const std::size_t last = std::min(first + samples_at_once(), slot.draws.size());
        slot.taken = last;
        ReadTimes times;
        std::exception_ptr error;
        std::size_t sample = first;
        begin(lock);
        try {
            const base::Annotation mark("loader: read samples");
            for (; sample < last; ++sample)
                source_.read(slot.draws[sample], slot.batch.input.get() + sample * input_bytes_,
                             slot.batch.target.get() + sample * target_bytes_, times);
        } catch (...) {
            error = std::current_exception();
        }
        end(lock);
        slot.batch.times += times;
        slot.done += last - first;
        base::count_progress();
        if (error) slot.fail(sample, error);
        if (slot.ready()) batch_ready_.notify_one();
    }

    // So few that the workers end a batch together, so many that small samples are worth the lock.
    std::size_t samples_at_once() const {
        constexpr std::size_t kWorthALock = 65536;  // bytes, some microseconds
        const std::size_t workers = std::max(config_.workers, 1);
        const std::size_t fair = static_cast<std::size_t>(config_.batch) / (4 * workers);
        return std::clamp<std::size_t>(
            kWorthALock / std::max<std::size_t>(input_bytes_ + target_bytes_, 1), 1,
            std::max<std::size_t>(fair, 1));
    }

    void begin(std::unique_lock<std::mutex>& lock) {
        ++active_;
        lock.unlock();
    }
    void end(std::unique_lock<std::mutex>& lock) {
        lock.lock();
        if (--active_ == 0) idle_.notify_one();
    }

    const Source& source_;
    const Config config_;
    const std::size_t input_bytes_;
    const std::size_t target_bytes_;

    std::mutex mutex_;
    std::condition_variable work_ready_;
    std::condition_variable batch_ready_;
    std::condition_variable idle_;
    Plan plan_;
    std::vector<Slot> slots_;  ///< a ring: batch b lies in slot (b - first) % slots
    std::int64_t first_ = 0;
    std::int64_t given_ = 0;    ///< the batch that next() gives next
    std::int64_t planned_ = 0;  ///< the first one not planned yet
    std::int64_t end_ = 0;
    bool in_use_ = false;  ///< the caller has given_ - 1
    bool planning_ = false;
    bool stopping_ = false;
    int active_ = 0;  ///< threads at work without the mutex
    std::vector<std::thread> threads_;
};

Loader::Loader(const Source& source, const Config& config)
    : state_(std::make_unique<State>(source, config)) {}
Loader::~Loader() = default;

void Loader::start(Plan plan, std::int64_t first, std::int64_t count) {
    state_->start(std::move(plan), first, count);
}

const Batch& Loader::next() {
    return state_->next();
}

}  // namespace ranklab::data
