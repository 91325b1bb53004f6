// Records handed from rank 0 to the ranks in chunks: the messages, and what is told of them afterwards.
// Private to this room and its tests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/share.hpp"
#include "comm/communicator.hpp"
#include "results/run.hpp"

namespace ranklab::io {

/// The original's tag.
inline constexpr int kChunkTag = 77;

/// A chunk is sent as its first id and its length, 16 bytes: it has left when this returns, whatever the
/// other rank is at.
void send_chunk(comm::Communicator& ranks, const base::Share& chunk, int to);
/// From rank 0. Waits for it.
base::Share receive_chunk(comm::Communicator& ranks);
inline constexpr std::int64_t kChunkBytes = 2 * sizeof(std::int64_t);

/// What one rank was given.
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

/// The table "chunks": rank, chunks, records, handed_bytes.
results::Table chunk_table(const std::vector<Handed>& by_rank);

}  // namespace ranklab::io
