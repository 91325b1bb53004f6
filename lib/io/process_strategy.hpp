// The common part of process-pool and process-queue: worker processes (io/worker.hpp) and the table
// "tasks". Private to this room and its tests.
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

/// One worker, started clean by posix_spawn: a fork after MPI_Init would share MPI's memory and
/// sockets.
class WorkerProcess : base::Immovable {
  public:
    /// `queue`: the workers' end of the queue; negative: none. EnvironmentError where it cannot be
    /// started.
    WorkerProcess(const Job& job, WorkerKind kind, int number, int queue);
    ~WorkerProcess() { end(); }

    int socket() const { return channel_.get(); }
    void send(std::span<const double> task);
    /// Waits for the next report. Throws the worker's error, or an EnvironmentError that says how
    /// it ended.
    WorkerReport receive();
    /// No more work comes: it finishes the record at hand. It should end by itself.
    void dismiss() noexcept { ::shutdown(channel_.get(), SHUT_WR); }
    /// Dismisses it and waits for its end; says how it ended, "" as it should.
    std::string end();
    void add(const WorkerReport& report);

    WorkerReport sum;          ///< of its reports
    std::int64_t reports = 0;  ///< since it was ready

  private:
    [[noreturn]] void throw_lost();

    std::string name_;  // "worker 1 (process 4711)"
    pid_t process_ = -1;
    base::Descriptor channel_;
};

class ProcessStrategy : public FileStrategy {
  public:
    /// With at_once the workers do not wait for each other.
    ProcessStrategy(const Job& job, const Place& place, WorkerKind kind, bool at_once)
        : FileStrategy(job, place, Encoding::npy), kind_(kind), at_once_(at_once) {}
    /// The workers end first.
    ~ProcessStrategy() override;

    void open() override;
    void close() override;

    /// "tasks" has a row per worker: worker, tasks, bytes_sent_per_task and bytes_received_per_task
    /// (0 without a task), busy_s (in its records), wait_s (for tasks).
    std::vector<results::Table> tables() const override;
    std::vector<base::IoTimes> writers() const override;
    std::vector<Remark> warnings() const override;

  protected:
    void send(std::size_t worker, std::span<const double> task);
    /// Puts an id in the queue that all workers share; false where it is full.
    bool offer(std::int64_t id);
    /// No more ids come.
    void close_queue() { queue_.reset(); }
    /// Waits until a worker reports, and counts its report; or, with `room_in_queue`, until the
    /// queue takes ids again. nullopt: the queue has room, or a signal came.
    std::optional<std::size_t> hear(bool room_in_queue = false);
    std::int64_t records() const { return records_; }  ///< that the workers have reported

  private:
    WorkerKind kind_;
    bool at_once_;
    std::deque<WorkerProcess> workers_;
    base::Descriptor queue_;
    std::int64_t records_ = 0;
};

}  // namespace ranklab::io
