// Rank 0 assigns records by messages, and every rank, rank 0 too, writes its own: one share each,
// or chunk by chunk on request (--dynamic).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "base/progress.hpp"
#include "base/ticker.hpp"
#include "comm/point_to_point.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using base::Share;

constexpr int kChunkTag = 77;  // as in the original
constexpr int kRequestTag = 78;
constexpr std::int64_t kChunkBytes = 2 * sizeof(std::int64_t);
constexpr std::uint8_t kNext = 1;
constexpr std::uint8_t kGaveUp = 0;  // the rank failed and requests no more

// Does not wait for the other rank: the message is short.
void send_chunk(comm::Communicator& ranks, const Share& chunk, int to) {
    const std::array<std::int64_t, 2> message{chunk.first, chunk.count};
    comm::send(ranks, comm::view(std::span(message)), to, kChunkTag);
}

Share receive_chunk(comm::Communicator& ranks) {
    std::array<std::int64_t, 2> message{};
    comm::receive(ranks, comm::view(std::span(message)), 0, kChunkTag);
    return {message[0], message[1]};
}

void request(comm::Communicator& ranks, std::uint8_t what) {
    comm::send(ranks, comm::view(std::span(&what, 1)), 0, kRequestTag);
}

// Assigns chunks of records in ascending order, on rank 0. A thread answers the requests of other
// ranks: rank 0 itself is busy writing records, and a request would wait until it had finished one.
// The thread sleeps between polls, since waiting inside MPI takes a core (docs/writing.md has the
// thread's cost).
//
// While the server lives, only its thread uses `ranks` and MPI (MPI_THREAD_SERIALIZED suffices).
// The thread ends when every other rank knows that there are no more chunks, or has failed. A
// failure closes the queue for all.
class ChunkServer {
  public:
    ChunkServer(comm::Communicator& ranks, std::int64_t files, std::int64_t chunk_files)
        : ranks_(ranks),
          files_(files),
          chunk_files_(std::min(chunk_files, std::max<std::int64_t>(files, 1))),
          assigned_(ranks.world_size()),
          waited_for_(ranks.world_size() - 1) {
        if (waited_for_ > 0) thread_ = base::thread_without_signals([this] { serve(); });
    }
    // Closes the queue, then answers until all other ranks know it, even after an error.
    ~ChunkServer() {
        close();
        if (thread_.joinable()) thread_.join();
    }

    // The next chunk; empty if there are no more. Any thread may call.
    Share take() {
        const std::int64_t first = next_.fetch_add(chunk_files_);
        if (first < files_) return {first, std::min(chunk_files_, files_ - first)};
        close();  // keeps next_ from overflowing
        return {files_, 0};
    }
    // Waits for the thread's end, and rethrows its error.
    void finish() {
        if (thread_.joinable()) thread_.join();
        if (failure_) std::rethrow_exception(failure_);
    }
    // Valid after finish(): work that each other rank got, and the time of the answers (phase
    // send).
    const std::vector<AssignedWork>& assigned() const { return assigned_; }
    const base::IoTimes& times() const { return times_; }

  private:
    void close() { next_.store(files_); }

    // Polls often while requests come, and rarely while ranks write long records: a poll takes some
    // microseconds of rank 0's core.
    void serve() {
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
            close();
        }
    }
    // Returns false if there is no request.
    bool serve_one() {
        if (!comm::probe(ranks_, comm::kAnyRank, kRequestTag)) return false;
        base::count_progress();
        const auto mark = times_.phase(IoPhase::send);
        std::uint8_t what = kNext;
        const int rank =
            comm::receive(ranks_, comm::view(std::span(&what, 1)), comm::kAnyRank, kRequestTag);
        if (what == kGaveUp) {
            close();
            --waited_for_;
            return true;
        }
        const Share chunk = take();
        send_chunk(ranks_, chunk, rank);
        assigned_[rank].add(chunk, kChunkBytes);
        if (chunk.count == 0) --waited_for_;
        return true;
    }

    comm::Communicator& ranks_;
    std::int64_t files_;
    std::int64_t chunk_files_;
    std::atomic<std::int64_t> next_{0};
    std::vector<AssignedWork> assigned_;
    base::IoTimes times_;
    int waited_for_;  // ranks that do not know yet that there are no more chunks
    std::exception_ptr failure_;
    std::thread thread_;
};

class MpiSend final : public FileStrategy {
  public:
    using FileStrategy::FileStrategy;

    void write() override {
        assigned_.assign(place().ranks.world_size(), {});
        written_.clear();
        if (job().dynamic)
            is_root() ? serve_and_work() : ask_and_work();
        else
            produce(noted(is_root() ? send_shares() : received_share()));
    }
    std::vector<results::Table> tables() const override { return {chunk_table(assigned_)}; }
    std::optional<std::vector<Share>> written() const override { return written_; }

  private:
    bool is_root() const { return place().ranks.rank() == 0; }

    /// Adds the chunk to written_, merged with the one before if adjacent.
    Share noted(const Share& chunk) {
        if (!written_.empty() && written_.back().end() == chunk.first)
            written_.back().count += chunk.count;
        else if (chunk.count > 0)
            written_.push_back(chunk);
        return chunk;
    }

    // Sends all shares before rank 0 writes its own. In the published program rank 0 wrote its
    // chunk first, and later ranks waited.
    Share send_shares() {
        const auto mark = place().times.phase(IoPhase::send);
        auto& ranks = place().ranks;
        for (int rank = 0; rank < ranks.world_size(); ++rank) {
            const Share share = base::share_of(job().files, rank, ranks.world_size());
            if (rank > 0) send_chunk(ranks, share, rank);
            assigned_[rank].add(share, rank > 0 ? kChunkBytes : 0);
        }
        return base::share_of(job().files, 0, ranks.world_size());
    }

    Share received_share() const {
        const auto mark = place().times.phase(IoPhase::wait);
        return receive_chunk(place().ranks);
    }

    void serve_and_work() {
        ChunkServer server(place().ranks, job().files, job().chunk_files);
        AssignedWork own;
        produce([&] {
            const Share chunk = server.take();
            own.add(chunk, 0);
            return noted(chunk);
        });
        {
            const auto mark = place().times.phase(IoPhase::wait);
            server.finish();
        }
        assigned_ = server.assigned();
        assigned_.front() = own;
        place().times.merge(server.times());
    }

    void ask_and_work() {
        try {
            produce([&] {
                const auto mark = place().times.phase(IoPhase::wait);
                request(place().ranks, kNext);
                return noted(receive_chunk(place().ranks));
            });
        } catch (...) {
            request(place().ranks, kGaveUp);  // otherwise rank 0 waits for the next request
            throw;
        }
    }

    std::vector<AssignedWork> assigned_;
    std::vector<Share> written_;  // by this rank
};

}  // namespace

StrategyEntry mpi_send_entry() {
    return {
        .name = "mpi-send",
        .summary = "rank 0 sends each rank its records, at once or in chunks on request, npy files",
        .parallel = true,
        .dynamic = true,
        .make = make_strategy<MpiSend, Encoding::npy>};
}

}  // namespace ranklab::io
