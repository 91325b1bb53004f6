#include "io/worker.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "io/kernel.hpp"
#include "io/record_files.hpp"

namespace ranklab::io {
namespace {

using base::Clock;
using base::IoPhase;
using base::IoTimes;

/// Time between two reports of a queue's worker: short enough for a progress bar, long enough not
/// to wake the parent for every small file.
constexpr auto kBetweenReports = std::chrono::milliseconds(50);

/// Returns false if the parent has ended.
bool send_report(const WorkerReport& report) {
    return send_all(kChannelDescriptor, std::as_bytes(std::span(&report, 1)));
}

bool parent_is_gone() {
    char byte = 0;
    return ::recv(kChannelDescriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// As in the original program, a pool's worker gets the meshgrids with every task, and a queue's
/// worker builds them once.
void serve(WorkerKind kind, const Job& job) {
    const bool pool = kind == WorkerKind::pool;
    const auto own = pool ? std::vector<double>() : meshgrids(job.size);
    std::vector<double> task(1 + (pool ? 2 * job.values_per_record() : 0));
    const std::span<const double> grids = pool ? std::span(task).subspan(1) : std::span(own);
    const std::size_t values = job.values_per_record();
    IoTimes times;
    RecordWriter writer(job, Encoding::npy, times);
    WorkerReport report;
    std::vector<base::IoEvent> events;
    const auto send_work = [&] {
        report.times = std::exchange(times, {});
        report.events = std::ssize(events);
        if (job.trace) times.keep(events);
        const auto made = std::exchange(events, {});
        return send_report(std::exchange(report, {})) &&
               send_all(kChannelDescriptor, std::as_bytes(std::span(made)));
    };
    bool goes_on = send_work();
    auto last_report = Clock::now();
    while (goes_on && !parent_is_gone()) {
        const auto begin = Clock::now();
        const int from = pool ? kChannelDescriptor : kQueueDescriptor;
        if (!receive_all(from, std::as_writable_bytes(std::span(task)))) break;
        const auto arrived = Clock::now();
        report.wait_s += base::seconds_between(begin, arrived);
        if (job.trace) events.push_back({number_of(IoPhase::wait), begin, arrived});
        writer.make(static_cast<std::int64_t>(task.front()), [&](std::span<double> to) {
            fill_from_meshgrid(grids.first(values), grids.subspan(values), base::real(job.files),
                               task.front(), to);
        });
        ++report.records;
        if (!pool && Clock::now() - last_report < kBetweenReports) continue;
        goes_on = send_work();
        last_report = Clock::now();
    }
    if (report.records > 0) send_work();
    // Waits until the parent dismisses this worker.
    receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(task)));
}

int fail(base::ExitCode code, std::string_view sentence, std::string_view setting) {
    WorkerReport report;
    report.code = code;
    sentence.copy(report.sentence.data(), report.sentence.size() - 1);
    setting.copy(report.setting.data(), report.setting.size() - 1);
    send_report(report);
    return base::number_of(code);
}

/// Closes inherited sockets and shared memory of MPI: they would keep the connections of a dead
/// rank alive.
void close_all_from(int first) {
    std::vector<int> open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        open.push_back(std::atoi(entry.path().filename().c_str()));
    for (const int descriptor : open)
        if (descriptor >= first) ::close(descriptor);
}

/// Ignores stop signals, which reach the whole process group: the parent decides.
void prepare_process() {
    for (const int signal : base::kStopSignals) std::signal(signal, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

Job job_of(const WorkerJob& asked) {
    Job job;
    job.files = asked.files;
    job.size = asked.size;
    job.fsync = asked.fsync;
    if (asked.trace) job.trace = "";
    job.directory = asked.directory.data();
    return job;
}

}  // namespace

int worker_main() {
    prepare_process();
    WorkerJob asked;
    if (!receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(&asked, 1)))) {
        fmt::print(
            stderr,
            "ranklab-io-worker: ranklab io starts this worker process by itself for the strategies "
            "process-pool and process-queue; start ranklab io with one of them instead\n");
        return base::number_of(base::ExitCode::usage);
    }
    try {
        close_all_from(asked.kind == WorkerKind::queue ? kQueueDescriptor + 1 : kQueueDescriptor);
        serve(asked.kind, job_of(asked));
        return 0;
    } catch (const std::bad_alloc&) {
        return fail(base::ExitCode::environment,
                    "not enough memory for its records; use fewer workers", "workers");
    } catch (const std::exception& error) {
        const auto [sentence, code, settings] = base::describe_failure(error);
        return fail(code, sentence, settings.empty() ? "" : settings.front());
    }
}

}  // namespace ranklab::io
