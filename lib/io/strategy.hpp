// The strategies of writing records to files. Each is one file in strategies/ and one entry in
// CMakeLists.txt.
#pragma once

#include <functional>
#include <memory>
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

/// What a strategy needs on each rank. All of it must outlive the strategy.
struct Place {
    comm::Communicator& ranks;  ///< the ranks that write, for the strategy's messages
    base::IoTimes& times;       ///< gets this rank's phases while it writes
    /// Call it with the number of records that this rank and its workers have finished since the
    /// last call. Cheap. Throws base::Interrupted after a stop signal. With StrategyEntry::in_step
    /// some of the calls are collective.
    std::function<void(std::int64_t)> done;
};

/// A warning about the measurement, and the settings that remove its cause.
struct Remark {
    std::string sentence;
    base::Settings settings = {};
};

/// Writes all records once, each rank its share by base::share_of or, if the strategy is not
/// parallel, rank 0 all of them. All ranks of the place call open(), write() and close() in this
/// order; each call is timed. An error is thrown on the failing rank only, while others may wait in
/// a collective.
class Strategy {
  public:
    virtual ~Strategy() = default;
    virtual void open() = 0;   ///< starts workers; makes the shared file and its datasets
    virtual void write() = 0;  ///< generates and writes this rank's share
    virtual void close() = 0;  ///< after it, all records are in files

    /// `times` gets the phases open, read, parse and close.
    virtual std::unique_ptr<Reader> reader(base::IoTimes& times) const = 0;
    virtual std::filesystem::path file_of(std::int64_t id) const = 0;

    /// Times of the processes that wrote for this rank in parallel, one entry each. Empty: the rank
    /// itself wrote, and Place::times has its times.
    virtual std::vector<base::IoTimes> writers() const { return {}; }

    /// With Job::trace: the events of each worker process.
    virtual std::vector<std::vector<base::IoEvent>> worker_events() const { return {}; }

    /// The strategy's own tables (bytes per task, collective modes), gathered by close(). Complete
    /// on rank 0.
    virtual std::vector<results::Table> tables() const { return {}; }
    /// Warnings about the writing, such as collective requests that HDF5 made independent.
    virtual std::vector<Remark> warnings() const { return {}; }
};

struct StrategyEntry {
    std::string name;     ///< as in --strategy
    std::string summary;  ///< one line for --list
    Order order = Order::by_y;
    /// All ranks write, with MPI even for a single rank. Otherwise rank 0 writes and the others
    /// wait.
    bool parallel = false;
    bool uses_workers = false;  ///< Job::workers processes of the rank write
    bool shared_file = false;   ///< one file for all records; otherwise a file per record
    /// write() is collective: all ranks call Place::done equally often, and none may stop alone.
    /// open() of a parallel strategy with a shared file is always collective.
    bool in_step = false;
    /// Whether each rank writes a block of rows of every record.
    bool (*by_rows)(const Job&) = [](const Job&) { return false; };
    bool baseline = false;  ///< speedups in a ladder are relative to this strategy
    bool async = false;     ///< can use Job::async
    std::string extension = ".npy";
    int bytes_per_value = 8;  ///< in the file; a value has 8 B in memory
    std::function<std::unique_ptr<Strategy>(const Job&, const Place&)> make;

    int workers(const Job& job) const { return uses_workers ? job.workers : 0; }
    int participants(int world_size) const { return parallel ? world_size : 1; }
    /// Bytes of a record in its file, headers not counted.
    std::int64_t bytes_per_record(std::int64_t size) const { return bytes_per_value * size * size; }
};

/// `more`: further arguments of the constructor.
template <class Made, auto... more>
std::unique_ptr<Strategy> make_strategy(const Job& job, const Place& place) {
    return std::make_unique<Made>(job, place, more...);
}

/// Generated: all entries, in ladder order.
std::vector<StrategyEntry> strategies();

}  // namespace ranklab::io
