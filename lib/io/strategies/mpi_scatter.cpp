// Rank 0 scatters the numbers of the records (MPI_Scatterv), and every rank writes those it has been given.
#include <limits>

#include "io/file_strategy.hpp"
#include "io/id_scatter.hpp"

namespace ranklab::io {
namespace {

// 4 MiB of ids: one call for a million records.
constexpr std::int64_t kIdsAtOnce = std::int64_t{1} << 20U;

class MpiScatter final : public FileStrategy {
  public:
    MpiScatter(const Job& job, const Place& place) : FileStrategy(job, place, Encoding::npy) {}

    void write() override {
        constexpr std::int64_t kMost32 = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
        job().files <= kMost32 ? write_ids<std::int32_t>() : write_ids<std::int64_t>();
    }
    std::vector<results::Table> tables() const override { return {chunk_table(handed_)}; }

  private:
    template <class Id>
    void write_ids() {
        IdScatter<Id> scatter(place().ranks, job().files, kIdsAtOnce);
        const Grid grid(job().size);
        RecordWriter writer(job(), Encoding::npy, place().times);
        Values values;
        while (scatter.more()) {
            for (const Id id : timed_next(scatter)) produce(id, grid, writer, values);
        }
        handed_ = scatter.handed();
    }

    template <class Id>
    std::span<const Id> timed_next(IdScatter<Id>& scatter) const {
        const auto mark =
            place().times.phase(place().ranks.rank() == 0 ? base::IoPhase::send : base::IoPhase::wait);
        return scatter.next();
    }

    std::vector<Handed> handed_;
};

}  // namespace

StrategyEntry mpi_scatter_entry() {
    return {.name = "mpi-scatter",
            .summary = "rank 0 scatters the records' numbers to the ranks (MPI_Scatterv), npy files",
            .parallel = true,
            .needs_mpi = true,
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = make_strategy<MpiScatter>};
}

}  // namespace ranklab::io
