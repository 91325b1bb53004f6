// What process-pool and process-queue share: the life of their workers, and the table "tasks". Private to
// this room and its tests.
#pragma once

#include <memory>

#include "io/file_strategy.hpp"
#include "io/worker_processes.hpp"

namespace ranklab::io {

class ProcessStrategy : public FileStrategy {
  public:
    /// at_once: the workers do not wait for each other.
    ProcessStrategy(const Job& job, const Place& place, WorkerKind kind, bool at_once);

    /// Starts the workers.
    void open() override;
    /// Lets the strategy hand out the work. Whatever it throws, the workers are ended first.
    void write() override;
    /// Ends the workers. Throws where one was lost since.
    void close() override;

    /// "tasks", a row a worker: worker, tasks, bytes_sent_per_task and bytes_received_per_task (as the parent
    /// sends and receives, headers included; 0 where it had no task), busy_s (in its records), wait_s (for
    /// tasks).
    std::vector<results::Table> tables() const override;
    /// Each worker's own, where they work at the same time.
    std::vector<base::IoTimes> writers() const override;
    /// Where there are more workers than cores that they may run on.
    std::vector<Remark> warnings() const override;

  protected:
    virtual void hand_out(WorkerProcesses& workers) = 0;

    /// Takes what a worker reports of its records, and says that `more` are done.
    void take(int worker, const ReportBody& report, std::int64_t more);

  private:
    struct Row {
        std::int64_t tasks = 0;
        std::int64_t queue_bytes = 0;
        WorkerProcesses::Bytes bytes;
        double busy_s = 0;
        double wait_s = 0;
        base::IoTimes times;
    };

    WorkerKind kind_;
    bool at_once_;
    std::unique_ptr<WorkerProcesses> workers_;
    std::vector<Row> rows_;
};

}  // namespace ranklab::io
