// Rank 0 hands out the records by messages, and every rank, rank 0 too, writes what it has been given: a
// share each, or chunk by chunk to whoever asks (--dynamic).
#include <utility>

#include "io/chunk_queue.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using base::Share;

class MpiSend final : public FileStrategy {
  public:
    MpiSend(const Job& job, const Place& place) : FileStrategy(job, place, Encoding::npy) {}

    void write() override {
        handed_.assign(place().ranks.world_size(), {});
        if (job().dynamic) {
            is_root() ? serve_and_work() : ask_and_work();
        } else {
            write_share(is_root() ? send_shares() : received_share());
        }
    }
    std::vector<results::Table> tables() const override { return {chunk_table(handed_)}; }
    std::optional<std::vector<Share>> written() const override { return written_; }

  private:
    bool is_root() const { return place().ranks.rank() == 0; }

    /// Writes the chunks that `next` gives, until one is empty.
    template <class Next>
    void write_chunks(Next next) {
        const Grid grid(job().size);
        RecordWriter writer(job(), Encoding::npy, place().times);
        Values values;
        written_.clear();
        for (Share chunk = next(); chunk.count > 0; chunk = next()) {
            note(chunk);
            for (std::int64_t id = chunk.first; id < chunk.end(); ++id) produce(id, grid, writer, values);
        }
    }

    /// Chunks in a row are one part.
    void note(const Share& chunk) {
        if (!written_.empty() && written_.back().end() == chunk.first)
            written_.back().count += chunk.count;
        else
            written_.push_back(chunk);
    }

    void write_share(Share share) {
        write_chunks([&] { return std::exchange(share, {}); });
    }

    // All are sent before rank 0's own work: the published program had rank 0 write its chunk when it came to
    // itself in the order of ranks, and those after it waited for that.
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
        ChunkQueue queue(job().files, job().chunk_files);
        ChunkServer server(place().ranks, queue);
        Handed own;
        write_chunks([&] {
            const Share chunk = queue.take();
            own.add(chunk, 0);
            return chunk;
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
            write_chunks([&] {
                const auto mark = place().times.phase(IoPhase::wait);
                return ask_for_chunk(place().ranks);
            });
        } catch (...) {
            give_up_chunks(place().ranks);  // rank 0 would wait for the next request
            throw;
        }
    }

    std::vector<Handed> handed_;
    std::vector<Share> written_;  // by this rank
};

}  // namespace

StrategyEntry mpi_send_entry() {
    return {.name = "mpi-send",
            .summary = "rank 0 sends chunks of records to the ranks (dynamic: to whoever asks), npy files",
            .parallel = true,
            .needs_mpi = true,
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = make_strategy<MpiSend>};
}

}  // namespace ranklab::io
