#include "io/process_strategy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/mpi_words.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/stop_signals.hpp"
#include "results/rows.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;

constexpr auto kPatience = std::chrono::seconds(2);  // a dismissed worker has one record to finish at most

std::string text_of(int error) {
    return std::generic_category().message(error);
}

struct SocketPair {
    base::Descriptor ours;
    base::Descriptor theirs;  // above the numbers that it gets in a worker: one dup2 overwrites no other's
};

// Not pipes: writing to a dead worker is an error here and no signal.
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
            fmt::format("there is no socket for another worker ({}); use fewer", text_of(errno)),
            {"workers"});
    return pair;
}

fs::path worker_program(const Job& job) {
    const fs::path program =
        job.worker_program.empty() ? base::program_beside("ranklab-io-worker") : job.worker_program;
    if (!fs::exists(program))
        throw base::EnvironmentError(fmt::format(
            "{} is not there, which process-pool and process-queue start their workers from; build or "
            "install it beside ranklab-io",
            program.string()));
    return program;
}

// Its own descriptors, nothing to read or print, and the signals that reach the whole group held back until
// it ignores them. 0, or the error.
int spawn(std::vector<std::string> words, int channel, int queue, pid_t& process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, channel, kChannelDescriptor);
    if (queue >= 0) ::posix_spawn_file_actions_adddup2(&actions, queue, kQueueDescriptor);
    ::posix_spawnattr_init(&attributes);
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : base::kStopSignals) sigaddset(&held, signal);
    ::posix_spawnattr_setsigmask(&attributes, &held);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int error =
        ::posix_spawn(&process, words.front().c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return error;
}

[[noreturn]] void throw_not_started(int number, const fs::path& program, int error) {
    const bool too_many = error == EAGAIN || error == ENOMEM;
    throw base::EnvironmentError(
        fmt::format("worker {} cannot be started from {}: {}; {}", number, program.string(), text_of(error),
                    too_many ? "use fewer" : "build or install it anew"),
        too_many ? base::Settings{"workers"} : base::Settings{});
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return fmt::format("was killed by signal {} ({}){}", signal, ::strsignal(signal),
                           signal == SIGKILL ? ", perhaps by the kernel because memory ran out" : "");
    }
    return fmt::format("ended with exit code {} before its work was done", WEXITSTATUS(status));
}

[[noreturn]] void throw_ended(const std::string& how) {
    throw base::EnvironmentError(fmt::format("{}; its last file may be incomplete, run it again", how));
}

// The error that a worker met, as the kind that it was.
[[noreturn]] void throw_reported(const std::string& name, const WorkerReport& report) {
    const std::string sentence = fmt::format("{}: {}", name, report.sentence.data());
    base::Settings settings;
    if (report.setting.front() != '\0') settings.emplace_back(report.setting.data());
    if (report.code == base::ExitCode::usage) throw base::OptionError(sentence, settings);
    if (report.code == base::ExitCode::environment) throw base::EnvironmentError(sentence, settings);
    throw base::Error(sentence, report.code, settings);
}

/// The cores that this process, and so its workers, may run on; 0 where the system does not say (above
/// 1,024).
int usable_cores() {
    cpu_set_t cores;
    return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

double per(std::int64_t total, std::int64_t tasks) {
    return tasks == 0 ? 0 : base::real(total) / base::real(tasks);
}

}  // namespace

WorkerProcess::WorkerProcess(const Job& job, WorkerKind kind, int number, int queue) {
    const fs::path program = worker_program(job);
    SocketPair pair = socket_pair(SOCK_STREAM);
    // A task that fits leaves the parent free for others sooner. The system's limit may give less.
    const int room = 1 << 20;
    ::setsockopt(pair.ours.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    const int error = spawn(
        {program.string(), kind == WorkerKind::pool ? "pool" : "queue", std::to_string(job.files),
         std::to_string(job.size), job.fsync ? "1" : "0", job.rename ? "1" : "0", job.directory.string()},
        pair.theirs.get(), queue, process_);
    if (error != 0) throw_not_started(number, program, error);
    channel_ = std::move(pair.ours);
    name_ = fmt::format("worker {} (process {})", number, process_);
}

void WorkerProcess::send(std::span<const double> task) {
    auto bytes = std::as_bytes(task);
    while (!bytes.empty()) {
        const ssize_t done = ::send(channel_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            receive();  // it may have said why it ended
            throw_lost();
        }
        bytes = bytes.subspan(done);
        sent += done;
    }
}

WorkerReport WorkerProcess::receive() {
    WorkerReport report;
    ssize_t got = 0;
    do got = ::recv(channel_.get(), &report, sizeof report, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    if (got != sizeof report) throw_lost();
    if (report.code != base::ExitCode::ok) throw_reported(name_, report);
    received += got;
    return report;
}

void WorkerProcess::throw_lost() {
    const std::string how = end();
    throw_ended(how.empty() ? name_ + " ended before its work was done" : how);
}

std::string WorkerProcess::end() {
    if (process_ < 0) return "";
    dismiss();
    const auto deadline = base::Clock::now() + kPatience;
    bool forced = false;
    int status = 0;
    while (::waitpid(process_, &status, WNOHANG) == 0) {
        if (!forced && base::Clock::now() > deadline) forced = ::kill(process_, SIGKILL) == 0;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    process_ = -1;
    if (forced) return name_ + " did not end when its socket was closed, and was ended by force";
    return status == 0 ? "" : name_ + " " + how_it_ended(status);
}

ProcessStrategy::ProcessStrategy(const Job& job, const Place& place, WorkerKind kind, bool at_once)
    : FileStrategy(job, place, Encoding::npy), kind_(kind), at_once_(at_once) {
    if (job.workers < 1)
        throw base::OptionError(fmt::format("{} workers write nothing; use 1 or more", job.workers),
                                {"workers"});
}

void ProcessStrategy::open() {
    rows_.assign(job().workers, Row{});
    records_ = 0;
    try {
        start_workers();
    } catch (...) {
        end_workers();
        throw;
    }
}

void ProcessStrategy::start_workers() {
    SocketPair pair;
    if (kind_ == WorkerKind::queue) pair = socket_pair(SOCK_SEQPACKET);
    queue_ = std::move(pair.ours);
    for (int i = 0; i < job().workers; ++i) workers_.emplace_back(job(), kind_, i, pair.theirs.get());
    const auto mark = place().times.phase(IoPhase::wait);
    for (auto& worker : workers_) {
        worker.receive();
        worker.received = 0;
    }
}

void ProcessStrategy::write() {
    try {
        hand_out();
    } catch (...) {
        end_workers();
        throw;
    }
}

void ProcessStrategy::close() {
    close_queue();
    for (auto& worker : workers_) worker.dismiss();
    std::string lost;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        rows_[i].sent = workers_[i].sent;
        rows_[i].received = workers_[i].received;
        const std::string how = workers_[i].end();
        if (lost.empty()) lost = how;
    }
    workers_.clear();
    if (!lost.empty()) throw_ended(lost);
}

void ProcessStrategy::end_workers() noexcept {
    close_queue();
    for (auto& worker : workers_) worker.dismiss();
    workers_.clear();
}

void ProcessStrategy::send(std::size_t worker, std::span<const double> task) {
    const auto mark = place().times.phase(IoPhase::send);
    workers_[worker].send(task);
}

bool ProcessStrategy::offer(std::int64_t id) {
    const auto mark = place().times.phase(IoPhase::send);
    // Where all workers are gone there is no room either, and hear() finds out who was first.
    return ::send(queue_.get(), &id, sizeof id, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof id;
}

std::optional<std::size_t> ProcessStrategy::hear(bool room_in_queue) {
    std::vector<pollfd> sockets;
    for (const auto& worker : workers_) sockets.push_back({worker.socket(), POLLIN, 0});
    if (room_in_queue) sockets.push_back({queue_.get(), POLLOUT, 0});
    {
        const auto mark = place().times.phase(IoPhase::wait);
        if (::poll(sockets.data(), sockets.size(), -1) < 0) return std::nullopt;
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (sockets[i].revents == 0) continue;
        take(i, workers_[i].receive());
        return i;
    }
    return std::nullopt;
}

void ProcessStrategy::take(std::size_t worker, const WorkerReport& report) {
    Row& row = rows_[worker];
    row.tasks += report.records;
    row.queue_bytes += report.queue_bytes;
    row.wait_s += report.wait_s;
    row.times.merge(report.times);
    records_ += report.records;
    place().times.merge(report.times);
    place().done(report.records);
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
        rows.add({std::int64_t{std::ssize(rows)}, row.tasks, per(row.sent + row.queue_bytes, row.tasks),
                  per(row.received, row.tasks), row.times.records().total_s, row.wait_s});
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
