// Records handed from rank 0 to the ranks in chunks, and a queue of chunks that ranks ask for: rank 0 holds
// it, takes from it too, and serves the others from a thread of its own. Private to this room and its tests.
//
// Why a thread: rank 0 writes records itself, and were it to look for requests between its records, each
// would wait for two of them (docs/writing.md has the measurement). The thread sleeps between looks instead
// of waiting inside MPI, which would take a core from the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "base/io_times.hpp"
#include "base/numbers.hpp"
#include "comm/communicator.hpp"
#include "results/run.hpp"

namespace ranklab::io {

/// A chunk is sent as its first id and its length, 16 bytes: it has left when this returns, whatever the
/// other rank is at.
void send_chunk(comm::Communicator& ranks, const base::Share& chunk, int to);
base::Share receive_chunk(comm::Communicator& ranks);
inline constexpr std::int64_t kChunkBytes = 2 * sizeof(std::int64_t);

/// The work that one rank was given.
struct Handed {
    std::int64_t chunks = 0;   ///< that were not empty
    std::int64_t records = 0;  ///< in them
    std::int64_t bytes = 0;    ///< that rank 0 sent it to say so
    void add(const base::Share& chunk, std::int64_t message_bytes) {
        chunks += chunk.count > 0 ? 1 : 0;
        records += chunk.count;
        bytes += message_bytes;
    }
};

results::Table chunk_table(const std::vector<Handed>& by_rank);

/// Chunks of records 0..files-1 in ascending order. Any thread may call.
class ChunkQueue {
  public:
    ChunkQueue(std::int64_t files, std::int64_t chunk_files);
    /// The next chunk; one of no records when there is none.
    base::Share take();
    void close() { next_.store(files_); }

  private:
    std::int64_t files_;
    std::int64_t chunk_files_;
    std::atomic<std::int64_t> next_{0};
};

/// Rank 0's side of the others' requests. While it lives, `ranks` is the thread's alone, and the other
/// threads of this process make no MPI calls (MPI_THREAD_SERIALIZED is enough then). It ends when every other
/// rank has been told that there is no more, or has said that it failed, which closes the queue for all.
class ChunkServer {
  public:
    ChunkServer(comm::Communicator& ranks, ChunkQueue& queue);
    /// Closes the queue and goes on serving until all others know: none is left waiting, whatever happened
    /// here.
    ~ChunkServer();

    /// Waits for the thread's end, and throws what it failed with.
    void finish();
    /// After finish(): what each rank was given over MPI, and the time that its answers took (phase send).
    const std::vector<Handed>& handed() const { return handed_; }
    const base::IoTimes& times() const { return times_; }

  private:
    void serve();
    bool serve_one();  // false: nobody has asked

    comm::Communicator& ranks_;
    ChunkQueue& queue_;
    std::vector<Handed> handed_;
    base::IoTimes times_;
    int waited_for_;  // ranks that do not know yet that there is no more
    std::exception_ptr failure_;
    std::thread thread_;
};

base::Share ask_for_chunk(comm::Communicator& ranks);
/// In place of another request: this rank has failed and will not ask again.
void give_up_chunks(comm::Communicator& ranks);

}  // namespace ranklab::io
