// What rank 0 handed out by messages. Private to this room.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/share.hpp"
#include "results/rows.hpp"

namespace ranklab::io {

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

inline results::Table chunk_table(const std::vector<Handed>& by_rank) {
    results::Rows rows("chunks");
    for (const auto& handed : by_rank)
        rows.add({std::int64_t{std::ssize(rows)}, handed.chunks, handed.records, handed.bytes});
    return std::move(rows).table();
}

}  // namespace ranklab::io
