// A template: to add a strategy with worker processes, copy this file to lib/io/strategies and add
// its name to ENTRIES in lib/io/CMakeLists.txt. The contract test runs it beside the ladder's
// strategies.
#include <algorithm>

#include "base/numbers.hpp"
#include "io/process_strategy.hpp"

namespace ranklab::io {
namespace {

class TemplateWorkers final : public ProcessStrategy {
  public:
    // 1. Workers of the kind `pool` get their grids with each task. `true`: they write at the same
    // time.
    TemplateWorkers(const Job& job, const Place& place)
        : ProcessStrategy(job, place, WorkerKind::pool, true) {}

    // 2. Send tasks, and wait until as many records are reported. Here in rounds: each worker gets
    // one record, and the next round begins when all of them are written.
    void write() override {
        std::vector<double> task{0};
        const auto grids = meshgrids(job().size);
        task.insert(task.end(), grids.begin(), grids.end());
        for (std::int64_t first = 0; first < job().files; first = records()) {
            const std::int64_t end = std::min<std::int64_t>(first + job().workers, job().files);
            for (std::int64_t id = first; id < end; ++id) {
                task.front() = base::real(id);
                send(static_cast<std::size_t>(id - first), task);
            }
            while (records() < end)
                if (!wait_for_report()) place().done(0);  // throws after a signal
        }
    }
};

}  // namespace

// 3. `uses_workers`: --workers applies, and tables and the report have a row per number of workers.
StrategyEntry template_workers_entry() {
    return {.name = "template-workers",
            .summary = "worker processes, one record each per round, npy files",
            .uses_workers = true,
            .make = make_strategy<TemplateWorkers>};
}

}  // namespace ranklab::io
