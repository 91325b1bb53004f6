#include "io/process_strategy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "results/run.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;

struct SocketPair {
    base::Descriptor ours;
    base::Descriptor theirs;  // above kQueueDescriptor, so that no dup2 in the worker overwrites it
};

// Sockets, not pipes: writing to a dead worker returns an error and raises no signal.
SocketPair socket_pair(int type) {
    int ends[2];
    SocketPair pair;
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0) {
        pair.ours = base::Descriptor(ends[0]);
        const base::Descriptor low(ends[1]);
        pair.theirs = base::Descriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, 10));
    }
    if (!pair.theirs)
        throw base::EnvironmentError(
            fmt::format("no socket for another worker ({}); use fewer workers",
                        std::strerror(errno)),
            {"workers"});
    return pair;
}

// Returns 0 or the error number.
int spawn(std::string program, int channel, int queue, pid_t& process) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, channel, kChannelDescriptor);
    if (queue >= 0) ::posix_spawn_file_actions_adddup2(&actions, queue, kQueueDescriptor);
    char* const arguments[] = {program.data(), nullptr};
    const int error =
        ::posix_spawn(&process, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return fmt::format("was killed by signal {} ({}){}", signal, ::strsignal(signal),
                           signal == SIGKILL ? ", perhaps because memory ran out" : "");
    }
    return fmt::format("ended with exit code {} before its work was done", WEXITSTATUS(status));
}

[[noreturn]] void throw_ended(const std::string& how) {
    throw base::EnvironmentError(
        fmt::format("{}; its last file may be incomplete; run again", how));
}

// Throws a worker's error, as the class that belongs to its exit code.
[[noreturn]] void throw_reported(const std::string& name, const WorkerReport& report) {
    const std::string sentence = fmt::format("{}: {}", name, report.sentence.data());
    base::Settings settings;
    if (report.setting.front() != '\0') settings.emplace_back(report.setting.data());
    if (report.code == base::ExitCode::usage) throw base::OptionError(sentence, settings);
    if (report.code == base::ExitCode::environment)
        throw base::EnvironmentError(sentence, settings);
    throw base::Error(sentence, report.code, settings);
}

}  // namespace

WorkerProcess::WorkerProcess(const Job& job, WorkerKind kind, int number, int queue) {
    const fs::path program =
        job.worker_program.empty() ? base::program_beside("ranklab-io-worker") : job.worker_program;
    SocketPair pair = socket_pair(SOCK_STREAM);
    // A task that fits into the buffer does not block the parent. The system may grant a smaller
    // buffer.
    const int room = 1 << 20;
    ::setsockopt(pair.ours.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    const int error = spawn(program.string(), pair.theirs.get(), queue, process_);
    if (error != 0)
        throw base::EnvironmentError(fmt::format("worker {} cannot be started from {}: {}; install "
                                                 "it next to ranklab-io, or use fewer workers",
                                                 number, program.string(), std::strerror(error)),
                                     {"workers"});
    channel_ = std::move(pair.ours);
    name_ = fmt::format("worker {} (process {})", number, process_);
    WorkerJob asked{.kind = kind,
                    .files = job.files,
                    .size = job.size,
                    .fsync = job.fsync,
                    .trace = job.trace.has_value()};
    job.directory.copy(asked.directory.data(), asked.directory.size() - 1);
    // receive() reports a worker that has ended.
    static_cast<void>(send_all(channel_.get(), std::as_bytes(std::span(&asked, 1))));
}

void WorkerProcess::send(std::span<const double> task) {
    if (send_all(channel_.get(), std::as_bytes(task))) return;
    receive();  // throws the worker's error if it reported one
    throw_lost();
}

WorkerReport WorkerProcess::receive() {
    WorkerReport report;
    if (!receive_all(channel_.get(), std::as_writable_bytes(std::span(&report, 1)))) throw_lost();
    if (report.code != base::ExitCode::ok) throw_reported(name_, report);
    const std::size_t had = events.size();
    events.resize(had + static_cast<std::size_t>(report.events));
    if (!receive_all(
            channel_.get(),
            std::as_writable_bytes(std::span(events)).subspan(had * sizeof(base::IoEvent))))
        throw_lost();
    return report;
}

void WorkerProcess::throw_lost() {
    const std::string how = end();
    throw_ended(how.empty() ? name_ + " ended before its work was done" : how);
}

std::string WorkerProcess::end() {
    if (process_ < 0) return "";
    dismiss();
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
    return status == 0 ? "" : name_ + " " + how_it_ended(status);
}

void WorkerProcess::add(const WorkerReport& report) {
    ++reports;
    sum.records += report.records;
    sum.wait_s += report.wait_s;
    sum.times.merge(report.times);
}

ProcessStrategy::~ProcessStrategy() {
    close_queue();
    for (auto& worker : workers_) worker.dismiss();
}

void ProcessStrategy::open() {
    workers_.clear();
    records_ = 0;
    SocketPair pair;
    if (kind_ == WorkerKind::queue) pair = socket_pair(SOCK_SEQPACKET);
    queue_ = std::move(pair.ours);
    for (int i = 0; i < job().workers; ++i)
        workers_.emplace_back(job(), kind_, i, pair.theirs.get());
    const auto mark = place().times.phase(IoPhase::wait);
    for (auto& worker : workers_) worker.receive();
}

void ProcessStrategy::close() {
    close_queue();
    for (auto& worker : workers_) worker.dismiss();
    std::string lost;
    for (auto& worker : workers_) {
        const std::string how = worker.end();
        if (lost.empty()) lost = how;
    }
    if (!lost.empty()) throw_ended(lost);
}

void ProcessStrategy::send(std::size_t worker, std::span<const double> task) {
    const auto mark = place().times.phase(IoPhase::send);
    workers_[worker].send(task);
}

bool ProcessStrategy::offer(std::int64_t id) {
    const auto mark = place().times.phase(IoPhase::send);
    const double task = base::real(id);
    // Also fails if all workers have ended; wait_for_report() then throws their error.
    return ::send(queue_.get(), &task, sizeof task, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof task;
}

std::optional<std::size_t> ProcessStrategy::wait_for_report(bool or_room) {
    std::vector<pollfd> sockets;
    for (const auto& worker : workers_) sockets.push_back({worker.socket(), POLLIN, 0});
    if (or_room) sockets.push_back({queue_.get(), POLLOUT, 0});
    {
        const auto mark = place().times.phase(IoPhase::wait);
        if (::poll(sockets.data(), sockets.size(), -1) < 0) return std::nullopt;
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (sockets[i].revents == 0) continue;
        const WorkerReport report = workers_[i].receive();
        workers_[i].add(report);
        records_ += report.records;
        place().times.merge(report.times);
        place().done(report.records);
        return i;
    }
    return std::nullopt;
}

std::vector<base::IoTimes> ProcessStrategy::writers() const {
    std::vector<base::IoTimes> times;
    for (const auto& worker : workers_)
        if (at_once_) times.push_back(worker.sum.times);
    return times;
}

std::vector<std::vector<base::IoEvent>> ProcessStrategy::worker_events() const {
    std::vector<std::vector<base::IoEvent>> events;
    for (const auto& worker : workers_) events.push_back(worker.events);
    return events;
}

std::vector<results::Table> ProcessStrategy::tables() const {
    results::Rows rows("tasks");
    const std::int64_t values = kind_ == WorkerKind::pool ? 1 + 2 * job().values_per_record() : 1;
    for (const auto& worker : workers_) {
        const std::int64_t tasks = worker.sum.records;
        const double reports = tasks == 0 ? 0 : base::real(worker.reports) / base::real(tasks);
        rows.add({std::int64_t{std::ssize(rows)}, tasks, tasks == 0 ? 0 : 8 * base::real(values),
                  reports * sizeof(WorkerReport), worker.sum.times.records().total_s,
                  worker.sum.wait_s});
    }
    return {std::move(rows).table()};
}

std::vector<Remark> ProcessStrategy::warnings() const {
    cpu_set_t usable;  // up to 1,024 cores
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return {};
    const int cores = CPU_COUNT(&usable);
    if (job().workers <= cores) return {};
    return {{fmt::format(
                 "{} workers share {} core{}; use fewer workers, or give the rank more cores ({} "
                 "--bind-to none)",
                 job().workers, cores, cores == 1 ? "" : "s", base::mpirun()),
             {fmt::format("workers {}", cores)}}};
}

}  // namespace ranklab::io
