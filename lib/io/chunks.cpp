#include "io/chunks.hpp"

#include <array>

#include "comm/point_to_point.hpp"

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
    std::vector<std::int64_t> rank;
    std::vector<std::int64_t> chunks;
    std::vector<std::int64_t> records;
    std::vector<std::int64_t> bytes;
    for (const auto& handed : by_rank) {
        rank.push_back(static_cast<std::int64_t>(rank.size()));
        chunks.push_back(handed.chunks);
        records.push_back(handed.records);
        bytes.push_back(handed.bytes);
    }
    return {"chunks", {{"rank", rank}, {"chunks", chunks}, {"records", records}, {"handed_bytes", bytes}}};
}

}  // namespace ranklab::io
