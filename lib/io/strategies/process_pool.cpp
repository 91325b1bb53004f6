// The fourth strategy: a pool of worker processes. As in the original, every task takes the two meshgrids
// with it through a pipe, 16 bytes to send for every 8 written; and with a blocking apply one worker works at
// a time.
#include "base/error.hpp"
#include "io/meshgrids.hpp"
#include "io/process_strategy.hpp"

namespace ranklab::io {
namespace {

class ProcessPool final : public ProcessStrategy {
  public:
    ProcessPool(const Job& job, const Place& place)
        : ProcessStrategy(job, place, WorkerKind::pool, job.async) {}

  private:
    void hand_out(WorkerProcesses& workers) override {
        const Meshgrids grids(job().size);
        const std::int64_t most = job().async ? job().workers : 1;
        task_of_.assign(job().workers, kFree);
        std::int64_t next = 0;
        std::int64_t in_flight = 0;
        while (next < job().files || in_flight > 0) {
            while (next < job().files && in_flight < most) {
                send_task(workers, grids, next++);
                ++in_flight;
            }
            const auto said = workers.hear();
            if (said) {
                take_answer(workers, *said);
                --in_flight;
            } else {
                place().done(0);  // a signal came
            }
        }
    }

    void send_task(WorkerProcesses& workers, const Meshgrids& grids, std::int64_t id) {
        while (task_of_[turn_] != kFree) turn_ = (turn_ + 1) % task_of_.size();
        const TaskBody task{.files = job().files, .id = id};
        Outgoing message(MessageType::task, {bytes_of(task), std::as_bytes(std::span(grids.x)),
                                             std::as_bytes(std::span(grids.y))});
        task_of_[turn_] = id;
        workers.tell(static_cast<int>(turn_), message);
        turn_ = (turn_ + 1) % task_of_.size();
    }

    void take_answer(const WorkerProcesses& workers, const WorkerProcesses::Said& said) {
        const auto report = workers.body<ReportBody>(said, MessageType::answer);
        std::int64_t& task = task_of_[said.worker];
        if (task == kFree || report.id != task || report.records != 1)
            throw base::EnvironmentError(
                fmt::format("{} answered for record {}, which was not its task; build and install ranklab-io "
                            "and ranklab-io-worker together",
                            workers.name(said.worker), report.id));
        task = kFree;
        take(said.worker, report, 1);
    }

    static constexpr std::int64_t kFree = -1;
    std::vector<std::int64_t> task_of_;
    std::size_t turn_ = 0;  // whom to ask first: the tasks go round
};

}  // namespace

StrategyEntry process_pool_entry() {
    return {.name = "process-pool",
            .summary = "worker processes, each task brings its grids, npy files",
            .processes = true,
            .writers_at_once = [](const Job& job) { return job.async ? job.workers : 1; },
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = make_strategy<ProcessPool>};
}

}  // namespace ranklab::io
