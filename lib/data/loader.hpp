// Prefetches batches by worker threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/handle.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// Allocates memory for a batch, once per slot: page-locked for asynchronous copies to a GPU
/// (device/gpus.hpp). Null: plain memory, aligned to 64 bytes.
using Allocate = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;

/// `count` samples; input and target are dense arrays [count, ...].
struct Batch {
    std::int64_t count = 0;
    std::shared_ptr<std::byte> input;
    std::shared_ptr<std::byte> target;
    ReadTimes times;  ///< summed over samples
};

/// The consumer's thread plans batches; workers read samples, a few at a time, of the oldest
/// unfinished batch, so that all workers make the batch that is needed first.
class Loader : base::Immovable {
  public:
    struct Config {
        int workers = 0;         ///< threads; 0: next() reads the samples
        int prefetch = 2;        ///< batches made ahead of the one in use, at most
        std::int64_t batch = 1;  ///< samples in a batch, at most
        Allocate allocate{};
    };

    /// `source` must outlive the loader.
    Loader(const Source& source, const Config& config);
    ~Loader() { stop(); }

    /// The samples of batch b. Called once per batch, in order, never by two threads at once.
    using Plan = std::function<std::vector<Draw>(std::int64_t b)>;

    /// Starts a plan: next() then returns its batches first .. first + count - 1. Drops batches
    /// made ahead for an earlier plan.
    void start(Plan plan, std::int64_t first, std::int64_t count);

    /// The next batch, valid until the next call; waits until it is made. Throws the source's
    /// errors. Order and bytes are equal at any worker count.
    const Batch& next();

  private:
    // A batch from its plan to its use. The loader's mutex guards all of it except the bytes of
    // samples that are being read.
    struct Slot {
        Batch batch;
        std::vector<Draw> draws;
        std::size_t taken = 0;  ///< samples whose reading has begun
        std::size_t done = 0;
        std::size_t failed_at = 0;  ///< the sample of `error`
        std::exception_ptr error;

        bool ready() const { return done == draws.size(); }
        bool has_work() const { return taken < draws.size(); }
        // Keeps the lowest sample's error, whichever thread hit it; skips samples not yet started.
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
            taken = done = 0;
            error = nullptr;
            batch.count = 0;
            batch.times = {};
        }
    };

    Slot& slot_of(std::int64_t b);
    void reserve();
    void plan_ahead();
    void work();
    void stop() noexcept;
    bool read_some(std::unique_lock<std::mutex>& lock);
    std::size_t samples_at_once() const;

    const Source& source_;
    const Config config_;
    const std::size_t input_bytes_;
    const std::size_t target_bytes_;

    std::mutex mutex_;
    std::condition_variable work_ready_;
    std::condition_variable batch_ready_;
    std::condition_variable idle_;
    Plan plan_;
    std::vector<Slot> slots_;  ///< a ring: batch b lies in slot (b - first_) % slots
    std::int64_t first_ = 0;
    std::int64_t given_ = 0;    ///< the batch that next() returns next; given_ - 1 is in use
    std::int64_t planned_ = 0;  ///< the first batch without a plan
    std::int64_t end_ = 0;
    bool stopping_ = false;
    int active_ = 0;  ///< threads that read without the mutex
    std::vector<std::thread> threads_;
};

}  // namespace ranklab::data
