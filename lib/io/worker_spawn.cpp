#include "io/worker_spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "base/program_beside.hpp"
#include "base/stop_signals.hpp"
#include "io/wire.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;

std::string text_of(int error) {
    return std::generic_category().message(error);
}

/// How posix_spawn starts a worker: its own descriptors, nothing to read or print, and the signals that reach
/// the whole group held back until it ignores them.
class SpawnPlan : base::Pinned {
  public:
    SpawnPlan(int channel, int queue) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, channel, kChannelDescriptor);
        if (queue >= 0) ::posix_spawn_file_actions_adddup2(&actions_, queue, kQueueDescriptor);
        ::posix_spawnattr_init(&attributes_);
        sigset_t held;
        sigemptyset(&held);
        for (const int signal : base::kStopSignals) sigaddset(&held, signal);
        ::posix_spawnattr_setsigmask(&attributes_, &held);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    /// 0, or the error.
    int run(const fs::path& program, pid_t& process) const {
        std::string name = program.string();
        char* arguments[] = {name.data(), nullptr};
        return ::posix_spawn(&process, name.c_str(), &actions_, &attributes_, arguments, environ);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace

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
            fmt::format("there is no pipe for another worker ({}); use fewer", text_of(errno)), {"workers"});
    return pair;
}

namespace {

[[noreturn]] void throw_not_started(int number, const fs::path& program, int error) {
    const bool too_many = error == EAGAIN || error == ENOMEM;
    throw base::EnvironmentError(
        fmt::format("worker {} cannot be started from {}: {}; {}", number, program.string(), text_of(error),
                    too_many ? "use fewer" : "build or install it anew"),
        too_many ? base::Settings{"workers"} : base::Settings{});
}

}  // namespace

SpawnedWorker spawn_worker(const fs::path& program, int number, int queue) {
    SocketPair pair = socket_pair(SOCK_STREAM);
    // A task that fits leaves the parent free for others sooner. The system's limit may give less.
    const int room = 1 << 20;
    ::setsockopt(pair.ours.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    SpawnedWorker worker;
    const int error = SpawnPlan(pair.theirs.get(), queue).run(program, worker.process);
    if (error != 0) throw_not_started(number, program, error);
    worker.channel = std::move(pair.ours);
    return worker;
}

}  // namespace ranklab::io
