// The worker processes of process-pool and process-queue, and their messages. The program
// ranklab-io-worker loads neither MPI nor HDF5 nor LibTorch, so that it starts in milliseconds. It
// takes no arguments: its first message is a WorkerJob. A pool's worker then gets one task after
// the other from its parent: the record's id and both meshgrids, as doubles. A queue's worker
// builds its grids and takes ids, as doubles, from a packet socket that all workers share. Both
// kinds send WorkerReports: one when ready; then a pool's worker one per task, a queue's worker one
// about every 50 ms and a last one. End of file on its socket means that the worker has ended.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/error.hpp"
#include "base/io_times.hpp"

namespace ranklab::io {

enum class WorkerKind { pool, queue };

/// Descriptors in a worker: a stream socket to its parent, and the queue.
inline constexpr int kChannelDescriptor = 3;
inline constexpr int kQueueDescriptor = 4;

/// The records to write: fields of Job.
struct WorkerJob {
    WorkerKind kind = WorkerKind::pool;
    std::int64_t files = 0, size = 0;
    bool fsync = false, trace = false;
    std::array<char, 4096> directory{};  ///< PATH_MAX: no file in a longer path could be opened
};

/// Work since the last report, or the error that ends the worker.
struct WorkerReport {
    std::int64_t records = 0;
    double wait_s = 0;  ///< waiting until a task had arrived completely
    base::IoTimes times;
    std::int64_t events = 0;  ///< number of IoEvents that follow the report (with Job::trace)
    base::ExitCode code = base::ExitCode::ok;
    std::array<char, 1000> sentence{};  ///< the error's message, truncated
    std::array<char, 16> setting{};     ///< an option that removes the error's cause
};
static_assert(std::is_trivially_copyable_v<WorkerReport>, "a report is sent as its bytes");

/// Returns false if the other process has closed its end, or died.
inline bool send_all(int socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
}
inline bool receive_all(int socket, std::span<std::byte> to) {
    while (!to.empty()) {
        const ssize_t got = ::recv(socket, to.data(), to.size(), MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to = to.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

/// Works until the parent has no more work or has ended. Returns 0, or the exit code of the error
/// that it reported. Started by hand, it prints what it is and returns 2.
int worker_main();

}  // namespace ranklab::io
