// Worker processes make their meshgrids once and take ids of records, 8 B each, from one queue.
#include "io/process_strategy.hpp"

namespace ranklab::io {
namespace {

class ProcessQueue final : public ProcessStrategy {
  public:
    ProcessQueue(const Job& job, const Place& place)
        : ProcessStrategy(job, place, WorkerKind::queue, true) {}

    void write() override {
        std::int64_t next = 0;
        while (records() < job().files) {
            while (next < job().files && offer(next)) ++next;
            const bool more = next < job().files;
            if (!more) close_queue();
            if (!wait_for_report(more)) place().done(0);  // throws after a signal
        }
    }
};

}  // namespace

StrategyEntry process_queue_entry() {
    return {.name = "process-queue",
            .summary = "worker processes that take ids from one queue, npy files",
            .uses_workers = true,
            .make = make_strategy<ProcessQueue>};
}

}  // namespace ranklab::io
