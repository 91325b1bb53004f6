#include "io/process_strategy.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/mpirun.hpp"
#include "results/rows.hpp"

namespace ranklab::io {
namespace {

/// That this process, and so its workers, may run on; 0 where the system does not say (more than 1,024).
int usable_cores() {
    cpu_set_t cores;
    return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

double per(std::int64_t total, std::int64_t tasks) {
    return tasks == 0 ? 0 : base::real(total) / base::real(tasks);
}

}  // namespace

ProcessStrategy::ProcessStrategy(const Job& job, const Place& place, WorkerKind kind, bool at_once)
    : FileStrategy(job, place, Encoding::npy), kind_(kind), at_once_(at_once) {
    if (job.workers < 1)
        throw base::OptionError(fmt::format("{} workers write nothing; use 1 or more", job.workers),
                                {"workers"});
}

void ProcessStrategy::open() {
    rows_.assign(job().workers, Row{});
    workers_ = std::make_unique<WorkerProcesses>(job(), kind_, place().times);
    try {
        workers_->start();
    } catch (...) {
        workers_.reset();
        throw;
    }
}

void ProcessStrategy::write() {
    try {
        hand_out(*workers_);
    } catch (...) {
        workers_.reset();
        throw;
    }
}

void ProcessStrategy::close() {
    if (!workers_) return;
    for (int i = 0; i < job().workers; ++i) rows_[i].bytes = workers_->bytes(i);
    const auto workers = std::move(workers_);
    workers->end();
}

void ProcessStrategy::take(int worker, const ReportBody& report, std::int64_t more) {
    Row& row = rows_.at(worker);
    row.tasks += report.records;
    row.queue_bytes += report.queue_bytes;
    row.wait_s += report.wait_s;
    row.busy_s += report.times.records().total_s;
    row.times.merge(report.times);
    place().times.merge(report.times);
    place().done(more);
}

std::vector<base::IoTimes> ProcessStrategy::writers() const {
    std::vector<base::IoTimes> times;
    for (const Row& row : rows_)
        if (at_once_) times.push_back(row.times);
    return times;
}

std::vector<results::Table> ProcessStrategy::tables() const {
    results::Rows rows("tasks");
    for (const Row& row : rows_)
        rows.add({std::int64_t{std::ssize(rows)}, row.tasks, per(row.bytes.sent + row.queue_bytes, row.tasks),
                  per(row.bytes.received, row.tasks), row.busy_s, row.wait_s});
    return {std::move(rows).table()};
}

std::vector<Remark> ProcessStrategy::warnings() const {
    const int cores = usable_cores();
    if (cores == 0 || job().workers <= cores) return {};
    return {{fmt::format("{} workers share {} core{}; use fewer workers, or give the rank more cores ({} "
                         "--bind-to none)",
                         job().workers, cores, cores == 1 ? "" : "s", base::mpirun()),
             {fmt::format("workers {}", cores)}}};
}

}  // namespace ranklab::io
