// A strategy of the file-writing ladder, and their catalogue. Each is one file in strategies/ and
// one word in CMakeLists.txt.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/io_times.hpp"
#include "base/numbers.hpp"
#include "comm/communicator.hpp"
#include "io/job.hpp"
#include "io/kernel.hpp"
#include "results/run.hpp"

namespace ranklab::io {

/// The parts that a strategy needs on each rank; all outlive it.
struct Place {
    comm::Communicator& ranks;  ///< those that take part, for this strategy's own messages
    base::IoTimes& times;       ///< where this rank marks its phases while writing
    /// Called after each record that this rank or its worker has finished, with the number of new
    /// ones; cheap. Throws base::Interrupted where the user has asked to stop. In step
    /// (StrategyEntry::in_step) it is collective, now and then.
    std::function<void(std::int64_t)> done;
};

/// A sentence for who reads the numbers, and the settings that mend what it says.
struct Remark {
    std::string sentence;
    base::Settings settings = {};
};

/// The verbs are called in this order, each by all ranks of the place, each timed. open: makes what
/// the first record needs (worker processes, the shared file and its datasets). write: generates
/// and writes this rank's share. close: does the rest; then all records are in files. An error
/// throws on its own rank; the others may be waiting in a collective then.
class Strategy {
  public:
    virtual ~Strategy() = default;
    virtual void open() = 0;
    virtual void write() = 0;
    virtual void close() = 0;

    /// `times` gets open, read, parse and close.
    virtual std::unique_ptr<Reader> reader(base::IoTimes& times) const = 0;
    virtual std::filesystem::path file_of(std::int64_t id) const = 0;

    /// The records that this rank wrote last, where they differ from its part by base::share_of (in
    /// a strategy that is not parallel: from all on rank 0).
    virtual std::optional<std::vector<base::Share>> written() const { return std::nullopt; }
    /// The times of each of this rank's processes that wrote at the same time in the last writing.
    /// Empty: one process wrote, and the place has its times.
    virtual std::vector<base::IoTimes> writers() const { return {}; }

    /// Further tables of the last writing (bytes per task, collective modes): complete on rank 0
    /// after close(), which gathered them.
    virtual std::vector<results::Table> tables() const { return {}; }
    /// Sentences that mark the row: a collective request that fell back.
    virtual std::vector<Remark> warnings() const { return {}; }
};

struct StrategyEntry {
    std::string name;     ///< as in --strategy
    std::string summary;  ///< one line for --list
    Order order = Order::by_y;
    /// All ranks take part, through MPI even with a single rank; else rank 0 alone writes and the
    /// others wait.
    bool parallel = false;
    bool uses_workers = false;  ///< Job::workers processes of the rank write
    bool shared_file = false;   ///< one file for all records; otherwise a file per record
    /// Whether write() is made by all ranks in step: each calls Place::done equally often, and none
    /// may stop alone. open() of a parallel strategy with a shared file always is.
    bool in_step = false;
    /// Whether all ranks write each record together, a block of its rows each.
    bool (*by_rows)(const Job&) = [](const Job&) { return false; };
    bool baseline = false;  ///< speedups of a ladder are over this strategy
    bool async = false;     ///< has Job::async
    bool dynamic = false;   ///< has Job::dynamic
    std::string extension = ".npy";
    int bytes_per_value = 8;  ///< in the file
    std::function<std::unique_ptr<Strategy>(const Job&, const Place&)> make;

    int workers(const Job& job) const { return uses_workers ? job.workers : 0; }
    int participants(int world_size) const { return parallel ? world_size : 1; }
    /// Headers apart.
    std::int64_t bytes_per_record(std::int64_t size) const { return bytes_per_value * size * size; }
};

template <class Made>
std::unique_ptr<Strategy> make_strategy(const Job& job, const Place& place) {
    return std::make_unique<Made>(job, place);
}

/// Generated: all entries, in ladder order.
std::vector<StrategyEntry> strategies();

}  // namespace ranklab::io
