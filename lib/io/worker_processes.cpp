#include "io/worker_processes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/pack.hpp"
#include "base/progress.hpp"
#include "io/worker_spawn.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;
using Clock = base::IoTimes::Clock;

/// Of a worker that was told to go, or has closed its pipe: it has one record to finish at most.
constexpr auto kPatience = std::chrono::seconds(2);

std::string text_of(int error) {
    return std::generic_category().message(error);
}

std::string how_it_ended(int status) {
    if (status < 0) return "did not end when its pipe was closed, and was ended by force";
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
    }
    return fmt::format("ended with exit code {} before its work was done", WEXITSTATUS(status));
}

[[noreturn]] void throw_ended(const std::string& who, int status) {
    const bool killed = status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    throw base::EnvironmentError(fmt::format(
        "{} {}; its last file may be incomplete: run it again{}", who, how_it_ended(status),
        killed ? ", and if nobody killed it, ask the system's log for the out-of-memory killer" : ""));
}

/// The error that a worker met, as the kind that it was.
[[noreturn]] void throw_told(const Message& failure) {
    const auto* bytes = reinterpret_cast<const char*>(failure.body.data());
    const auto told = base::unpacked<base::Failure>({bytes, failure.body.size()});
    if (!told) throw_no_message();
    const auto& [sentence, code, settings] = *told;
    switch (code) {
        case base::ExitCode::usage:
            throw base::OptionError(sentence, settings);
        case base::ExitCode::wrong_data:
            throw base::DataError(sentence, settings);
        case base::ExitCode::environment:
            throw base::EnvironmentError(sentence, settings);
        default:
            throw base::Error(sentence);
    }
}

}  // namespace

WorkerProcesses::WorkerProcesses(const Job& job, WorkerKind kind, base::IoTimes& times,
                                 std::uint64_t record_bytes)
    : job_(job), kind_(kind), times_(times), record_bytes_(record_bytes) {}

WorkerProcesses::~WorkerProcesses() {
    abandon();
}

std::string WorkerProcesses::name(int worker) const {
    return fmt::format("worker {} (process {})", worker, workers_.at(worker).process);
}

WorkerProcesses::Bytes WorkerProcesses::bytes(int worker) const {
    const Worker& one = workers_.at(worker);
    return {one.sent, one.inbox.bytes() - one.received_before};
}

void WorkerProcesses::start() {
    const fs::path program = worker_program(job_);
    base::Descriptor shared;
    if (kind_ == WorkerKind::queue) {
        SocketPair pair = socket_pair(SOCK_SEQPACKET);
        queue_ = std::move(pair.ours);
        shared = std::move(pair.theirs);
    }
    workers_.reserve(job_.workers);
    for (int i = 0; i < job_.workers; ++i) {
        SpawnedWorker spawned = spawn_worker(program, i, shared.get());
        Worker& worker = workers_.emplace_back();
        worker.process = spawned.process;
        worker.channel = std::move(spawned.channel);
        introduce(i);
    }
    wait_until_ready();
}

void WorkerProcesses::introduce(int worker) {
    const std::string start =
        base::packed(StartBody{kind_, worker, record_bytes_, job_, job_.directory.string()});
    Outgoing message(MessageType::start, {std::as_bytes(std::span(start))});
    tell(worker, message);
}

void WorkerProcesses::wait_until_ready() {
    for (std::size_t ready = 0; ready < workers_.size();) {
        const auto said = hear();
        if (!said) continue;
        need(*said, MessageType::ready, 0);
        ++ready;
    }
    for (Worker& worker : workers_) {
        worker.sent = 0;
        worker.received_before = worker.inbox.bytes();
    }
}

std::optional<Message> WorkerProcesses::next_message_of(int worker) {
    Worker& one = workers_[worker];
    try {
        auto message = one.inbox.next();
        if (message && message->type == MessageType::failed) throw_told(*message);
        if (message && message->type == MessageType::finished) one.finished = true;
        return message;
    } catch (base::Error& error) {
        error.add_context(name(worker));
        throw;
    }
}

std::optional<WorkerProcesses::Said> WorkerProcesses::next_message() {
    for (int i = 0; i < static_cast<int>(workers_.size()); ++i)
        if (auto message = next_message_of(i)) return Said{i, std::move(*message)};
    return std::nullopt;
}

void WorkerProcesses::need(const Said& said, MessageType type, std::size_t bytes) const {
    if (said.message.type == type && said.message.body.size() >= bytes) return;
    try {
        throw_no_message();
    } catch (base::Error& error) {
        error.add_context(name(said.worker));
        throw;
    }
}

void WorkerProcesses::look_for_the_dead() {
    for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
        const Worker& worker = workers_[i];
        if (worker.silent && !worker.finished) throw_lost(i);
    }
}

void WorkerProcesses::throw_lost(int worker) {
    Worker& one = workers_.at(worker);
    one.silent = true;
    one.inbox.fill(one.channel.get());
    while (next_message_of(worker)) {  // it may have said why
    }
    const std::string who = name(worker);
    throw_ended(who, reap(one, Clock::now() + kPatience));
}

bool WorkerProcesses::poll(int watched, bool& watched_has_room) {
    std::vector<pollfd> list;
    list.reserve(workers_.size() + 1);
    // poll leaves out a negative descriptor.
    for (const Worker& worker : workers_)
        list.push_back({worker.silent ? -1 : worker.channel.get(), POLLIN, 0});
    list.push_back({watched, POLLOUT, 0});
    if (::poll(list.data(), list.size(), -1) < 0) {
        if (errno == EINTR) return false;
        throw base::EnvironmentError(fmt::format("the workers cannot be watched (poll: {})", text_of(errno)));
    }
    for (std::size_t i = 0; i < workers_.size(); ++i)
        if (list[i].revents != 0) workers_[i].silent = !workers_[i].inbox.fill(workers_[i].channel.get());
    watched_has_room = list.back().revents != 0;
    return true;
}

std::optional<WorkerProcesses::Said> WorkerProcesses::hear(bool room_in_queue) {
    while (true) {
        if (auto said = next_message()) {
            base::count_progress();
            return said;
        }
        look_for_the_dead();
        const auto mark = times_.phase(IoPhase::wait);
        bool room = false;
        if (!poll(room_in_queue ? queue_.get() : -1, room) || room) return std::nullopt;
    }
}

void WorkerProcesses::tell(int worker, Outgoing& message) {
    const auto mark = times_.phase(IoPhase::send);
    Worker& one = workers_.at(worker);
    while (true) {
        const auto state = message.send(one.channel.get(), false);
        if (state == Outgoing::State::sent) break;
        if (state == Outgoing::State::gone) throw_lost(worker);
        bool room = false;
        poll(one.channel.get(), room);
    }
    one.sent += message.bytes();
}

bool WorkerProcesses::offer(std::int64_t id) {
    const auto mark = times_.phase(IoPhase::send);
    // Where all workers are gone there is no room either, and hear() finds out who was first.
    return ::send(queue_.get(), &id, sizeof id, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof id;
}

void WorkerProcesses::tell_all_to_go() noexcept {
    close_queue();
    for (Worker& worker : workers_)
        if (worker.channel) ::shutdown(worker.channel.get(), SHUT_WR);
}

int WorkerProcesses::reap(Worker& worker, Clock::time_point deadline) noexcept {
    if (worker.process < 0) return 0;
    pollfd pipe{worker.channel.get(), POLLIN, 0};
    char heard[4096];
    // The end of its pipe comes just before the end of the process.
    while (Clock::now() < deadline) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (::poll(&pipe, 1, static_cast<int>(left.count())) <= 0) continue;
        if (::recv(pipe.fd, heard, sizeof heard, MSG_DONTWAIT) <= 0) break;
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(worker.process, &status, WNOHANG)) == 0 && Clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (ended == 0) {
        ::kill(worker.process, SIGKILL);
        ::waitpid(worker.process, nullptr, 0);
        status = -1;
    }
    worker.process = -1;
    worker.channel.reset();
    return status;
}

void WorkerProcesses::end() {
    tell_all_to_go();
    const auto deadline = Clock::now() + kPatience;
    std::string first;
    int status_of_first = 0;
    for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
        const std::string who = name(i);
        const int status = reap(workers_[i], deadline);
        if (status == 0 || !first.empty()) continue;
        first = who;
        status_of_first = status;
    }
    if (!first.empty()) throw_ended(first, status_of_first);
}

void WorkerProcesses::abandon() noexcept {
    tell_all_to_go();
    const auto deadline = Clock::now() + kPatience;
    for (Worker& worker : workers_) reap(worker, deadline);
}

}  // namespace ranklab::io
