// The worker processes of process-pool and process-queue, and what passes between them and their
// parent. The program ranklab-io-worker loads neither MPI nor HDF5 nor LibTorch, so that it starts
// in milliseconds:
//
//   ranklab-io-worker pool|queue FILES SIZE FSYNC RENAME DIRECTORY
//
// Its parent sends a pool's worker one task after the other: the record's id and both meshgrids, as
// doubles. The workers of a queue build their grids themselves and take ids, also doubles, from one
// shared packet socket. They send WorkerReports: one when the worker is ready, one for each task of
// a pool, one about every 50 ms and a last one from a queue's worker. A worker whose socket ends
// has ended.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/error.hpp"
#include "base/io_times.hpp"

namespace ranklab::io {

enum class WorkerKind { pool, queue };

/// The descriptors of a worker: a stream socket to its parent, and the queue.
inline constexpr int kChannelDescriptor = 3;
inline constexpr int kQueueDescriptor = 4;

/// Since the last report; or why the worker ends.
struct WorkerReport {
    std::int64_t records = 0;
    double wait_s = 0;  ///< until there was a task, and all of it
    base::IoTimes times;
    base::ExitCode code = base::ExitCode::ok;
    std::array<char, 1000> sentence{};  ///< of the failure, cut where it is longer
    std::array<char, 16> setting{};     ///< that mends it
};
static_assert(std::is_trivially_copyable_v<WorkerReport>, "a report travels as its bytes");

/// Serves until the parent has no more work or is gone, and returns the exit code: 0, or that of
/// the error that it reported. Started by hand it explains itself on stderr and returns 2.
int worker_main(int argc, char** argv);

}  // namespace ranklab::io
