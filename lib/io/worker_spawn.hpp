// Starting a worker process: by posix_spawn, so that nothing of MPI's comes along but its environment.
// Private to this room.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/descriptor.hpp"
#include "io/job.hpp"

namespace ranklab::io {

struct SocketPair {
    base::Descriptor ours;
    base::Descriptor theirs;  ///< above the numbers that it gets in a worker: one dup2 overwrites no other's
};
/// Of this socket type, both ends closed by an exec. EnvironmentError where there are no more descriptors.
SocketPair socket_pair(int type);

/// The program that the workers run: job.worker_program, or the one beside this program. EnvironmentError
/// where it is missing.
std::filesystem::path worker_program(const Job& job);

struct SpawnedWorker {
    pid_t process = -1;
    base::Descriptor channel;  ///< our end
};
/// Starts a worker with its channel and, unless it is negative, this queue. EnvironmentError where it cannot
/// be.
SpawnedWorker spawn_worker(const std::filesystem::path& program, int number, int queue);

}  // namespace ranklab::io
