// Batches, made ahead of their use by worker threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/source.hpp"

namespace ranklab::data {

/// Allocates a batch's memory, once a slot: device/memory.hpp gives pinned memory, for asynchronous
/// copies. Null: plain memory, aligned to 64 bytes.
using Allocate = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;

/// A batch of `count` samples, one after another: input and target are dense arrays [count, ...].
struct Batch {
    std::int64_t count = 0;
    std::shared_ptr<std::byte> input;
    std::shared_ptr<std::byte> target;
    ReadTimes times;  ///< of all its samples, added up over workers
};

class Loader {
  public:
    struct Config {
        int workers = 0;         ///< threads; 0: next() reads
        int prefetch = 2;        ///< batches at most, made or being made ahead of the one in use
        std::int64_t batch = 1;  ///< samples in a batch, at most
        Allocate allocate{};
    };

    /// `source` outlives it.
    Loader(const Source& source, const Config& config);
    ~Loader();

    /// The samples of batch b. Called once a batch, in order, never by two threads at once.
    using Plan = std::function<std::vector<Draw>(std::int64_t b)>;

    /// Makes batches first .. first + count - 1 of `plan` come next; those made ahead for an
    /// earlier plan are thrown away.
    void start(Plan plan, std::int64_t first, std::int64_t count);

    /// The next batch, which stands until the next call; waits where it is not made yet. Throws the
    /// source's errors. The order and the bytes are the same at any worker count.
    const Batch& next();

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace ranklab::data
