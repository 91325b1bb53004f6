// The fifth strategy: worker processes that build their grids once and take ids, 8 bytes each, from one
// queue.
#include "base/error.hpp"
#include "io/process_strategy.hpp"

namespace ranklab::io {
namespace {

class ProcessQueue final : public ProcessStrategy {
  public:
    ProcessQueue(const Job& job, const Place& place) : ProcessStrategy(job, place, WorkerKind::queue, true) {}

  private:
    void hand_out(WorkerProcesses& workers) override {
        done_of_.assign(job().workers, 0);
        std::int64_t next = 0;
        written_ = 0;
        for (int working = job().workers; working > 0;) {
            while (next < job().files && workers.offer(next)) ++next;
            const bool more = next < job().files;
            if (!more) workers.close_queue();
            const auto said = workers.hear(more);
            if (!said)
                place().done(0);  // a signal may have come
            else if (take_message(workers, *said))
                --working;
        }
        if (written_ != job().files)
            throw base::EnvironmentError(
                fmt::format("the workers report {} of {} records; run it again", written_, job().files));
    }

    /// true: this worker has finished.
    bool take_message(const WorkerProcesses& workers, const WorkerProcesses::Said& said) {
        std::int64_t& done = done_of_[said.worker];
        if (said.message.type == MessageType::progress) {
            const auto more = workers.body<ProgressBody>(said, MessageType::progress).records;
            done += more;
            place().done(more);
            return false;
        }
        const auto report = workers.body<ReportBody>(said, MessageType::finished);
        written_ += report.records;
        take(said.worker, report, report.records - done);
        return true;
    }

    std::vector<std::int64_t> done_of_;  // per worker, so far
    std::int64_t written_ = 0;
};

}  // namespace

StrategyEntry process_queue_entry() {
    return {.name = "process-queue",
            .summary = "worker processes that take ids from one queue, npy files",
            .processes = true,
            .writers_at_once = [](const Job& job) { return job.workers; },
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = make_strategy<ProcessQueue>};
}

}  // namespace ranklab::io
