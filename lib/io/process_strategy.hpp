// Base of process-pool and process-queue: worker processes (io/worker.hpp) and the table "tasks".
// Private to lib/io and its tests.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/handle.hpp"
#include "io/file_strategy.hpp"
#include "io/worker.hpp"

namespace ranklab::io {

/// A worker process. posix_spawn starts a new program, since a fork after MPI_Init would share
/// MPI's memory and sockets.
class WorkerProcess : base::Immovable {
  public:
    /// `queue`: descriptor of the workers' end of the queue; negative: none. Throws
    /// EnvironmentError if the process cannot be started.
    WorkerProcess(const Job& job, WorkerKind kind, int number, int queue);
    ~WorkerProcess() { end(); }

    int socket() const { return channel_.get(); }
    void send(std::span<const double> task);
    /// Awaits the next report. Throws the worker's error, or EnvironmentError if the worker ended.
    WorkerReport receive();
    /// Announces that no more work comes: the worker finishes its record and ends.
    void dismiss() noexcept { ::shutdown(channel_.get(), SHUT_WR); }
    /// Dismisses the worker and waits for its end. Returns how it failed, or "".
    std::string end();
    void add(const WorkerReport& report);

    WorkerReport sum;                   ///< over the worker's reports
    std::int64_t reports = 0;           ///< not counting the first, which says "ready"
    std::vector<base::IoEvent> events;  ///< of all reports, with Job::trace

  private:
    [[noreturn]] void throw_lost();

    std::string name_;  // "worker 1 (process 4711)"
    pid_t process_ = -1;
    base::Descriptor channel_;
};

class ProcessStrategy : public FileStrategy {
  public:
    /// at_once: the workers write at the same time instead of one after the other.
    ProcessStrategy(const Job& job, const Place& place, WorkerKind kind, bool at_once)
        : FileStrategy(job, place, Encoding::npy), kind_(kind), at_once_(at_once) {}
    /// Ends the workers.
    ~ProcessStrategy() override;

    void open() override;
    void close() override;

    /// The table "tasks": one row per worker.
    std::vector<results::Table> tables() const override;
    std::vector<base::IoTimes> writers() const override;
    std::vector<std::vector<base::IoEvent>> worker_events() const override;
    std::vector<Remark> warnings() const override;

  protected:
    void send(std::size_t worker, std::span<const double> task);
    /// Puts an id in the queue that all workers share; false if the queue is full.
    bool offer(std::int64_t id);
    /// Announces that no more ids come.
    void close_queue() { queue_.reset(); }
    /// Waits for a report, counts it and returns its worker. With `or_room`, also returns once the
    /// queue has room. nullopt: the queue has room, or a signal came.
    std::optional<std::size_t> wait_for_report(bool or_room = false);
    std::int64_t records() const { return records_; }  ///< reported so far

  private:
    WorkerKind kind_;
    bool at_once_;
    std::deque<WorkerProcess> workers_;
    base::Descriptor queue_;
    std::int64_t records_ = 0;
};

}  // namespace ranklab::io
