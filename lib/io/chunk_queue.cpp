#include "io/chunk_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "base/progress.hpp"
#include "base/ticker.hpp"
#include "comm/point_to_point.hpp"
#include "results/rows.hpp"

namespace ranklab::io {

namespace {

constexpr int kChunkTag = 77;  // the original's
constexpr int kRequestTag = 78;
constexpr std::uint8_t kNext = 1;
constexpr std::uint8_t kGaveUp = 0;

void request(comm::Communicator& ranks, std::uint8_t what) {
    comm::send(ranks, comm::view(std::span(&what, 1)), 0, kRequestTag);
}

}  // namespace

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

ChunkQueue::ChunkQueue(std::int64_t files, std::int64_t chunk_files)
    : files_(files),
      chunk_files_(std::clamp<std::int64_t>(chunk_files, 1, std::max<std::int64_t>(files, 1))) {}

base::Share ChunkQueue::take() {
    const std::int64_t first = next_.fetch_add(chunk_files_);
    if (first >= files_) {
        close();  // so that the number stays small, however often it is asked for
        return {files_, 0};
    }
    return {first, std::min(chunk_files_, files_ - first)};
}

ChunkServer::ChunkServer(comm::Communicator& ranks, ChunkQueue& queue)
    : ranks_(ranks), queue_(queue), handed_(ranks.world_size()), waited_for_(ranks.world_size() - 1) {
    if (waited_for_ == 0) return;
    thread_ = base::thread_without_signals([this] { serve(); });
}

ChunkServer::~ChunkServer() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

void ChunkServer::finish() {
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(failure_);
}

// Looks often while requests come, and seldom while the ranks are at long records: a look takes some
// microseconds of a core that rank 0 works on.
void ChunkServer::serve() {
    constexpr std::chrono::microseconds kShortest{10};
    constexpr std::chrono::microseconds kLongest{200};
    auto pause = kShortest;
    try {
        while (waited_for_ > 0) {
            if (serve_one()) {
                pause = kShortest;
                continue;
            }
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 2, kLongest);
        }
    } catch (...) {
        failure_ = std::current_exception();
        queue_.close();
    }
}

bool ChunkServer::serve_one() {
    if (!comm::probe(ranks_, comm::kAnyRank, kRequestTag)) return false;
    base::count_progress();
    const auto mark = times_.phase(base::IoPhase::send);
    std::uint8_t what = kNext;
    const int rank = comm::receive(ranks_, comm::view(std::span(&what, 1)), comm::kAnyRank, kRequestTag);
    if (what == kGaveUp) {
        queue_.close();
        --waited_for_;
        return true;
    }
    const base::Share chunk = queue_.take();
    send_chunk(ranks_, chunk, rank);
    handed_[rank].add(chunk, kChunkBytes);
    if (chunk.count == 0) --waited_for_;
    return true;
}

base::Share ask_for_chunk(comm::Communicator& ranks) {
    request(ranks, kNext);
    return receive_chunk(ranks);
}

void give_up_chunks(comm::Communicator& ranks) {
    request(ranks, kGaveUp);
}

}  // namespace ranklab::io
