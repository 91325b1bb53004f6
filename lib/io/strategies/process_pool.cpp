// A pool of worker processes. Every task brings its two meshgrids, 16 B for each 8 B written, as in
// the original program. Without --async one worker works at a time, as with a blocking apply().
#include "base/numbers.hpp"
#include "io/process_strategy.hpp"

namespace ranklab::io {
namespace {

class ProcessPool final : public ProcessStrategy {
  public:
    ProcessPool(const Job& job, const Place& place)
        : ProcessStrategy(job, place, WorkerKind::pool, job.async) {}

    // The next free worker gets the next task.
    void write() override {
        std::vector<double> task{0};
        const auto grids = meshgrids(job().size);
        task.insert(task.end(), grids.begin(), grids.end());
        const std::int64_t most = job().async ? job().workers : 1;
        std::vector<bool> busy(job().workers);
        std::size_t turn = 0;
        std::int64_t next = 0;
        while (records() < job().files) {
            while (next < job().files && next - records() < most) {
                while (busy[turn]) turn = (turn + 1) % busy.size();
                task.front() = base::real(next++);
                busy[turn] = true;
                send(turn, task);
                turn = (turn + 1) % busy.size();
            }
            if (const auto worker = wait_for_report())
                busy[*worker] = false;
            else
                place().done(0);  // throws after a signal
        }
    }
};

}  // namespace

StrategyEntry process_pool_entry() {
    return {.name = "process-pool",
            .summary = "worker processes that get the grids with each task, npy files",
            .uses_workers = true,
            .async = true,
            .make = make_strategy<ProcessPool>};
}

}  // namespace ranklab::io
