// The worker processes of process-pool and process-queue, and their messages. The program
// ranklab-io-worker loads neither MPI nor HDF5 nor LibTorch, so that it starts in milliseconds:
//
//   ranklab-io-worker pool|queue FILES SIZE FSYNC RENAME TRACE DIRECTORY
//
// A pool's worker gets one task after the other from its parent: the record's id and both
// meshgrids, as doubles. A queue's worker builds its grids and takes ids, as doubles, from a packet
// socket that all workers share. Both kinds send WorkerReports: one when ready; then a pool's
// worker one per task, a queue's worker one about every 50 ms and a last one. End of file on its
// socket means that the worker has ended.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/error.hpp"
#include "base/io_times.hpp"

namespace ranklab::io {

enum class WorkerKind { pool, queue };

/// Descriptors in a worker: a stream socket to its parent, and the queue.
inline constexpr int kChannelDescriptor = 3;
inline constexpr int kQueueDescriptor = 4;

/// Work since the last report, or the error that ends the worker.
struct WorkerReport {
    std::int64_t records = 0;
    double wait_s = 0;  ///< waiting until a task had arrived completely
    base::IoTimes times;
    std::int64_t events = 0;  ///< with Job::trace: as many IoEvents follow the report
    base::ExitCode code = base::ExitCode::ok;
    std::array<char, 1000> sentence{};  ///< the error's message, truncated
    std::array<char, 16> setting{};     ///< an option that removes the error's cause
};
static_assert(std::is_trivially_copyable_v<WorkerReport>, "a report is sent as its bytes");

/// Works until the parent has no more work or has ended. Returns 0, or the exit code of the error
/// that it reported. Started by hand, it prints what it is and returns 2.
int worker_main(int argc, char** argv);

}  // namespace ranklab::io
