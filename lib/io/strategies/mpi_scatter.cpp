// Rank 0 scatters the ids of the records (MPI_Scatterv), and every rank writes its own.
#include <numeric>

#include "comm/mpi_environment.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

// Ids are int32, as in the original program: wide enough, since MPI's counts are int, too.
class MpiScatter final : public FileStrategy {
  public:
    using FileStrategy::FileStrategy;

    void write() override {
        const auto ids = scattered();
        std::size_t i = 0;
        produce([&] { return i < ids.size() ? base::Share{ids[i++], 1} : base::Share{}; });
    }
    std::vector<results::Table> tables() const override { return {chunk_table(assigned_)}; }

  private:
    std::vector<std::int32_t> scattered() {
        auto& ranks = place().ranks;
        const bool root = ranks.rank() == 0;
        const auto mark = place().times.phase(root ? base::IoPhase::send : base::IoPhase::wait);
        assigned_.assign(ranks.world_size(), {});
        std::vector<std::int32_t> all(root ? job().files : 0);
        std::iota(all.begin(), all.end(), 0);
        std::vector<std::size_t> counts;
        for (int rank = 0; root && rank < ranks.world_size(); ++rank) {
            const base::Share part = base::share_of(job().files, rank, ranks.world_size());
            counts.push_back(part.count);
            assigned_[rank].add(part,
                                rank == 0 ? 0 : part.count * std::int64_t{sizeof(std::int32_t)});
        }
        std::vector<std::int32_t> mine(
            base::share_of(job().files, ranks.rank(), ranks.world_size()).count);
        comm::scatterv(ranks, comm::view(std::span(all)), counts, comm::view(std::span(mine)), 0);
        return mine;
    }

    std::vector<AssignedWork> assigned_;
};

}  // namespace

StrategyEntry mpi_scatter_entry() {
    return {.name = "mpi-scatter",
            .summary = "rank 0 scatters the records' ids to the ranks (MPI_Scatterv), npy files",
            .parallel = true,
            .make = make_strategy<MpiScatter, Encoding::npy>};
}

}  // namespace ranklab::io
