#include "io/chunks.hpp"

#include <array>

#include "comm/point_to_point.hpp"
#include "results/rows.hpp"

namespace ranklab::io {

void send_chunk(comm::Communicator& ranks, const base::Share& chunk, int to) {
    const std::array<std::int64_t, 2> message{chunk.first, chunk.count};
    comm::send(ranks, comm::view(std::span(message)), to, kChunkTag);
}

base::Share receive_chunk(comm::Communicator& ranks) {
    std::array<std::int64_t, 2> message{};
    comm::receive(ranks, comm::view(std::span(message)), 0, kChunkTag);
    return {message[0], message[1]};
}

results::Table chunk_table(const std::vector<Handed>& by_rank) {
    results::Rows rows("chunks");
    for (const auto& handed : by_rank)
        rows.add({std::int64_t{std::ssize(rows)}, handed.chunks, handed.records, handed.bytes});
    return std::move(rows).table();
}

}  // namespace ranklab::io
