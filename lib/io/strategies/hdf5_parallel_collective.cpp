// All ranks take part in every write: each with a block of rows of one record or, if one dataset
// holds all records, with whole records.
#include <algorithm>

#include "base/numbers.hpp"
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {
namespace {

using hdf5::Requested;

class Hdf5ParallelCollective final : public Hdf5Strategy {
  public:
    Hdf5ParallelCollective(const Job& job, const Place& place)
        : Hdf5Strategy(job, place, Hdf5Form::collective) {}

    void write() override {
        if (goes_by_rows(job())) {
            for (std::int64_t id = 0; id < job().files; ++id) write_rows(id);
        } else {
            write_planes();
        }
        close_dataset();
    }

    /// True for a dataset per record, and if a record exceeds kMostBytesAtOnce.
    static bool goes_by_rows(const Job& job) {
        return !job.is_single() || records_at_once(job) == 0;
    }

  private:
    static std::int64_t records_at_once(const Job& job) {
        return kMostBytesAtOnce / (8 * job.values_per_record());
    }

    /// Calls `piece` for this rank's share of `total` in pieces of at most `step`. All ranks make
    /// as many calls as rank 0, whose share is the longest.
    template <class Piece>
    void in_pieces(std::int64_t total, std::int64_t step, Piece piece) const {
        const int ranks = place().ranks.world_size();
        const base::Share mine = base::share_of(total, place().ranks.rank(), ranks);
        for (std::int64_t done = 0; done < base::share_of(total, 0, ranks).count; done += step)
            piece(base::Share{mine.first + done,
                              std::clamp<std::int64_t>(mine.count - done, 0, step)});
    }

    void write_planes() {
        in_pieces(job().files, records_at_once(job()), [&](base::Share records) {
            const auto begin = base::IoTimes::Clock::now();
            produce(dataset_of(0), {records.first, records.count, 0, job().size},
                    Requested::collective);
            end_records(begin, records.count, records.count * row_bytes() * job().size);
        });
    }

    void write_rows(std::int64_t id) {
        const auto begin = base::IoTimes::Clock::now();
        const hdf5::Object& dataset = dataset_of(id);
        std::int64_t bytes = 0;
        in_pieces(job().size, rows_at_once(), [&](base::Share rows) {
            produce(dataset, {id, 1, rows.first, rows.count}, Requested::collective);
            bytes += rows.count * row_bytes();
        });
        const bool counts_it = id % place().ranks.world_size() == place().ranks.rank();
        end_records(begin, counts_it ? 1 : 0, bytes);
    }
};

}  // namespace

StrategyEntry hdf5_parallel_collective_entry() {
    return {.name = "hdf5-parallel-collective",
            .summary = "all ranks, one HDF5 file through MPI-IO, every write collective",
            .parallel = true,
            .shared_file = true,
            .in_step = true,
            .by_rows = Hdf5ParallelCollective::goes_by_rows,
            .extension = ".h5",
            .make = make_strategy<Hdf5ParallelCollective>};
}

}  // namespace ranklab::io
