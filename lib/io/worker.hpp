// The program ranklab-io-worker: one worker process of process-pool or process-queue. Its parent starts it
// (WorkerProcesses) with a socket to it as descriptor kChannelDescriptor and, for a queue, the ids as
// kQueueDescriptor. It loads neither MPI nor HDF5 nor LibTorch, so that it starts in milliseconds.
#pragma once

namespace ranklab::io {

/// Serves until the parent has no more work or is gone, and returns the exit code: 0, or that of the error
/// that it told its parent of. Started by hand it says what it is, on stderr, and returns 2.
int worker_main();

}  // namespace ranklab::io
