// Rank 0 hands out the records by messages, and every rank, rank 0 too, writes what it has been
// given: a share each, or chunk by chunk on request (--dynamic).
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

constexpr int kChunkTag = 77;  // the original's
constexpr int kRequestTag = 78;
constexpr std::int64_t kChunkBytes = 2 * sizeof(std::int64_t);
constexpr std::uint8_t kNext = 1;
constexpr std::uint8_t kGaveUp = 0;  // in place of another request: this rank has failed

// The message has left when this returns, even if the other rank is busy.
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

// Chunks of records 0..files-1 in ascending order, and rank 0's side of the others' requests,
// served from a thread of its own: rank 0 writes records itself; if it looked for requests between
// its records, each would wait for two of them (docs/writing.md has the measurement). The thread
// sleeps between looks instead of waiting inside MPI, which would take a core from the work.
//
// While it lives, only its thread uses `ranks`, and other threads of this process make no MPI calls
// (MPI_THREAD_SERIALIZED is enough then). It ends when every other rank knows that there are no
// more chunks, or has reported a failure, which closes the queue for all.
class ChunkServer {
  public:
    ChunkServer(comm::Communicator& ranks, std::int64_t files, std::int64_t chunk_files)
        : ranks_(ranks),
          files_(files),
          chunk_files_(std::min(chunk_files, std::max<std::int64_t>(files, 1))),
          handed_(ranks.world_size()),
          waited_for_(ranks.world_size() - 1) {
        if (waited_for_ > 0) thread_ = base::thread_without_signals([this] { serve(); });
    }
    // Closes the queue and serves until all others know it, so that none keeps waiting, even after
    // an error.
    ~ChunkServer() {
        close();
        if (thread_.joinable()) thread_.join();
    }

    // The next chunk; one of no records when there is none. Any thread may call.
    Share take() {
        const std::int64_t first = next_.fetch_add(chunk_files_);
        if (first < files_) return {first, std::min(chunk_files_, files_ - first)};
        close();  // so that the number stays small, however often it is asked for
        return {files_, 0};
    }
    // Waits for the thread's end, and throws what it failed with.
    void finish() {
        if (thread_.joinable()) thread_.join();
        if (failure_) std::rethrow_exception(failure_);
    }
    // Valid after finish(): the records that each rank got over MPI, and the time of its answers
    // (phase send).
    const std::vector<AssignedWork>& handed() const { return handed_; }
    const base::IoTimes& times() const { return times_; }

  private:
    void close() { next_.store(files_); }

    // Looks often while requests come, and seldom while the ranks write long records: a look takes
    // some microseconds of a core that rank 0 uses.
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
    // False: there is no request.
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
        handed_[rank].add(chunk, kChunkBytes);
        if (chunk.count == 0) --waited_for_;
        return true;
    }

    comm::Communicator& ranks_;
    std::int64_t files_;
    std::int64_t chunk_files_;
    std::atomic<std::int64_t> next_{0};
    std::vector<AssignedWork> handed_;
    base::IoTimes times_;
    int waited_for_;  // ranks that do not know yet that there is no more
    std::exception_ptr failure_;
    std::thread thread_;
};

class MpiSend final : public FileStrategy {
  public:
    MpiSend(const Job& job, const Place& place) : FileStrategy(job, place, Encoding::npy) {}

    void write() override {
        handed_.assign(place().ranks.world_size(), {});
        written_.clear();
        if (job().dynamic)
            is_root() ? serve_and_work() : ask_and_work();
        else
            produce(noted(is_root() ? send_shares() : received_share()));
    }
    std::vector<results::Table> tables() const override { return {chunk_table(handed_)}; }
    std::optional<std::vector<Share>> written() const override { return written_; }

  private:
    bool is_root() const { return place().ranks.rank() == 0; }

    /// Chunks in a row are one part of what is written.
    Share noted(const Share& chunk) {
        if (!written_.empty() && written_.back().end() == chunk.first)
            written_.back().count += chunk.count;
        else if (chunk.count > 0)
            written_.push_back(chunk);
        return chunk;
    }

    // Sends all shares before rank 0's own work: in the published program rank 0 wrote its chunk at
    // its place in the order of ranks, and the later ranks waited for that.
    Share send_shares() {
        const auto mark = place().times.phase(IoPhase::send);
        auto& ranks = place().ranks;
        for (int rank = 0; rank < ranks.world_size(); ++rank) {
            const Share share = base::share_of(job().files, rank, ranks.world_size());
            if (rank > 0) send_chunk(ranks, share, rank);
            handed_[rank].add(share, rank > 0 ? kChunkBytes : 0);
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
        handed_ = server.handed();
        handed_.front() = own;
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
            request(place().ranks, kGaveUp);  // rank 0 would wait for the next request
            throw;
        }
    }

    std::vector<AssignedWork> handed_;
    std::vector<Share> written_;  // by this rank
};

}  // namespace

StrategyEntry mpi_send_entry() {
    return {.name = "mpi-send",
            .summary =
                "rank 0 sends chunks of records to the ranks (dynamic: to whoever asks), npy files",
            .parallel = true,
            .dynamic = true,
            .make = make_strategy<MpiSend>};
}

}  // namespace ranklab::io
