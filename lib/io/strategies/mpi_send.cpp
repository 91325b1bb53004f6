// Rank 0 sends each rank the first id and the length of its share, and every rank, rank 0 too,
// writes its own.
#include <array>

#include "comm/mpi_environment.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using base::Share;

constexpr int kTag = 77;  // as in the original program

class MpiSend final : public FileStrategy {
  public:
    using FileStrategy::FileStrategy;

    void write() override {
        assigned_.assign(place().ranks.world_size(), {});
        produce(place().ranks.rank() == 0 ? send_shares() : received_share());
    }
    std::vector<results::Table> tables() const override { return {chunk_table(assigned_)}; }

  private:
    using Message = std::array<std::int64_t, 2>;

    // Sends all shares before rank 0 writes its own. In the published program rank 0 wrote its
    // share first, and later ranks waited.
    Share send_shares() {
        const auto mark = place().times.phase(IoPhase::send);
        auto& ranks = place().ranks;
        for (int rank = 0; rank < ranks.world_size(); ++rank) {
            const Share share = base::share_of(job().files, rank, ranks.world_size());
            const Message message{share.first, share.count};
            if (rank > 0) comm::send(ranks, comm::view(std::span(message)), rank, kTag);
            assigned_[rank].add(share, rank > 0 ? std::int64_t{sizeof message} : 0);
        }
        return base::share_of(job().files, 0, ranks.world_size());
    }

    Share received_share() const {
        const auto mark = place().times.phase(IoPhase::wait);
        Message message{};
        comm::receive(place().ranks, comm::view(std::span(message)), 0, kTag);
        return {message[0], message[1]};
    }

    std::vector<AssignedWork> assigned_;
};

}  // namespace

StrategyEntry mpi_send_entry() {
    return {.name = "mpi-send",
            .summary = "rank 0 sends each rank its records, npy files",
            .parallel = true,
            .make = make_strategy<MpiSend, Encoding::npy>};
}

}  // namespace ranklab::io
