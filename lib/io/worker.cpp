#include "io/worker.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/cast.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/pack.hpp"
#include "base/stop_signals.hpp"
#include "io/meshgrids.hpp"
#include "io/raw_writer.hpp"
#include "io/record_files.hpp"
#include "io/wire.hpp"

namespace ranklab::io {
namespace {

using base::Clock;
using base::IoPhase;
using base::IoTimes;
using base::seconds_since;

/// How often a worker of a queue says how far it is: often enough for a progress bar, and seldom enough not
/// to wake the parent for every small file.
constexpr auto kBetweenReports = std::chrono::milliseconds(50);

/// false: the parent is gone.
bool tell(MessageType type, std::initializer_list<std::span<const std::byte>> parts) {
    return Outgoing(type, parts).send(kChannelDescriptor, true) == Outgoing::State::sent;
}

/// The parent has closed the channel: it is gone, or wants no more.
bool parent_is_gone() {
    char byte = 0;
    return ::recv(kChannelDescriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// Generates and writes records from meshgrids, and marks it all.
class RecordMaker {
  public:
    explicit RecordMaker(const Job& job)
        : writer_(job, Encoding::npy, times), values_(job.values_per_record()) {}

    void make(const TaskBody& task, const std::vector<double>& x, const std::vector<double>& y) {
        const auto begin = Clock::now();
        {
            const auto mark = times.phase(IoPhase::generate);
            fill_from_meshgrid(x, y, base::real(task.files), base::real(task.id), values_);
        }
        writer_.write(task.id, values_);
        times.add_record(begin, Clock::now(), base::real(writer_.bytes_of_last()));
    }

    IoTimes times;

  private:
    RecordWriter writer_;
    Values values_;
};

/// As Pool.apply's worker: every task brings its meshgrids.
void serve_tasks(const Job& job) {
    const std::size_t values = job.values_per_record();
    std::vector<double> x(values);
    std::vector<double> y(values);
    RecordMaker maker(job);
    if (!tell(MessageType::ready, {})) return;
    while (true) {
        const auto begin = Clock::now();
        const auto header = receive_header(kChannelDescriptor);
        if (!header) return;
        TaskBody task;
        if (header->type != MessageType::task || header->bytes != sizeof task + 16 * values)
            throw_no_message();
        if (!receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(&task, 1))) ||
            !receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(x))) ||
            !receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(y))))
            return;
        const double wait_s = seconds_since(begin);
        maker.times = IoTimes{};
        maker.make(task, x, y);
        const ReportBody report{
            .id = task.id, .records = 1, .queue_bytes = 0, .wait_s = wait_s, .times = maker.times};
        if (!tell(MessageType::answer, {bytes_of(report)})) return;
    }
}

/// The next id of the queue that all workers take from; nullopt where there will be none.
std::optional<std::int64_t> take_id(const Job& job) {
    std::int64_t id = 0;
    ssize_t got = 0;
    do got = ::recv(kQueueDescriptor, &id, sizeof id, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0) return std::nullopt;
    if (got < 0)
        throw base::EnvironmentError(fmt::format("the queue cannot be read ({}); run it again",
                                                 std::generic_category().message(errno)));
    if (got != static_cast<ssize_t>(sizeof id) || id < 0 || id >= job.files) throw_no_message();
    return id;
}

/// As the original's queue: the meshgrids are built once, here; what comes are ids.
void serve_queue(const Job& job) {
    const Meshgrids grids(job.size);
    RecordMaker maker(job);
    if (!tell(MessageType::ready, {})) return;
    ReportBody report;
    ProgressBody progress;
    auto last_report = Clock::now();
    while (!parent_is_gone()) {
        const auto begin = Clock::now();
        const auto id = take_id(job);
        if (!id) break;
        report.wait_s += seconds_since(begin);
        report.queue_bytes += sizeof *id;
        maker.make({.files = job.files, .id = *id}, grids.x, grids.y);
        ++report.records;
        ++progress.records;
        if (Clock::now() - last_report < kBetweenReports) continue;
        if (!tell(MessageType::progress, {bytes_of(progress)})) return;
        progress.records = 0;
        last_report = Clock::now();
    }
    report.times = maker.times;
    tell(MessageType::finished, {bytes_of(report)});
}

/// How far it is, about every kBetweenReports: the parent tells the watchdog. Throws where the parent wants
/// no more.
class Parent {
  public:
    struct Gone {};
    void beat() {
        if (Clock::now() - last_ < kBetweenReports) return;
        last_ = Clock::now();
        const ProgressBody progress;
        if (parent_is_gone() || !tell(MessageType::progress, {bytes_of(progress)})) throw Gone{};
    }

  private:
    Clock::time_point last_ = Clock::now();
};

/// This worker's share of a ceiling: each step when the parent says so to all.
void serve_raw(const StartBody& start, const Job& job) {
    const auto share = base::share_of(job.files, start.number, job.workers);
    RawWriter writer({.directory = job.directory,
                      .records = share,
                      .bytes_per_record = start.record_bytes,
                      .fsync = job.fsync,
                      .beside = job.workers});
    Parent parent;
    if (!tell(MessageType::ready, {})) return;
    while (const auto header = receive_header(kChannelDescriptor)) {
        if (header->bytes != 0) throw_no_message();
        if (header->type == MessageType::copy) {
            writer.prepare_copy();
            if (!tell(MessageType::ready, {}) || !receive_header(kChannelDescriptor)) return;
            const Ceiling copied = writer.copy();
            if (!tell(MessageType::copied, {bytes_of(copied)})) return;
        } else if (header->type == MessageType::write) {
            const ReportBody report{
                .id = -1, .records = share.count, .queue_bytes = 0, .wait_s = 0, .times = writer.write([&] {
                    parent.beat();
                })};
            tell(MessageType::finished, {bytes_of(report)});
            return;
        } else {
            throw_no_message();
        }
    }
}

/// What this worker is to do; nullopt where the parent is gone.
std::optional<StartBody> receive_start() {
    const auto header = receive_header(kChannelDescriptor);
    if (!header) return std::nullopt;
    if (header->type != MessageType::start || header->bytes > 2 * PATH_MAX) throw_no_message();
    std::string bytes(header->bytes, '\0');
    if (!receive_all(kChannelDescriptor, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    auto start = base::unpacked<StartBody>(bytes);
    if (!start) throw_no_message();
    return start;
}

void serve() {
    const auto received = receive_start();
    if (!received) return;
    const StartBody& start = *received;
    const Job job{start.job, start.directory, {}, {}};
    if (start.kind == WorkerKind::queue) return serve_queue(job);
    ::close(kQueueDescriptor);  // what the parent had open there
    if (start.kind == WorkerKind::raw) return serve_raw(start, job);
    serve_tasks(job);
}

int fail(base::Failure failure) {
    failure.sentence = failure.sentence.substr(0, 32 * 1024);
    const std::string bytes = base::packed(failure);
    tell(MessageType::failed, {std::as_bytes(std::span(bytes))});
    return base::number_of(failure.code);
}

/// MPI's sockets and shared memory: a worker that held them would keep a lost rank's connections alive.
void close_all_from(int first) {
    std::vector<int> open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        open.push_back(std::atoi(entry.path().filename().c_str()));
    for (const int descriptor : open)
        if (descriptor >= first) ::close(descriptor);
}

/// What asks to stop reaches the whole group: the parent decides what follows.
void settle_in() {
    for (const int signal : base::kStopSignals) std::signal(signal, SIG_IGN);
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_all_from(kQueueDescriptor + 1);
}

}  // namespace

int worker_main() {
    struct stat status {};
    if (::fstat(kChannelDescriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        fmt::print(
            stderr,
            "ranklab-io-worker: this is a worker process that ranklab io starts by itself for the strategies "
            "process-pool and process-queue; start ranklab io with one of them instead\n");
        return base::number_of(base::ExitCode::usage);
    }
    try {
        settle_in();
        serve();
        return 0;
    } catch (const Parent::Gone&) {
        return 0;
    } catch (const base::Error& error) {
        return fail({error.what(), error.code(), error.settings()});
    } catch (const std::bad_alloc&) {
        return fail({"there is not enough memory for its records; use fewer workers or smaller records",
                     base::ExitCode::environment,
                     {"workers", "size"}});
    } catch (const std::exception& error) {
        return fail({error.what()});
    }
}

}  // namespace ranklab::io
