// The tenth strategy: all ranks take part in every write, each with a block of a record's rows; or, where one
// dataset holds all records, each with all its records in one call.
#include <algorithm>

#include "base/numbers.hpp"
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {
namespace {

using hdf5::Requested;

class Hdf5ParallelCollective final : public Hdf5Strategy {
  public:
    Hdf5ParallelCollective(const Job& job, const Place& place)
        : Hdf5Strategy(
              job, place,
              {.strategy = "hdf5-parallel-collective", .parallel = true, .collective_opening = true}) {}

    void write() override {
        if (goes_by_rows(job())) {
            for (std::int64_t id = 0; id < job().files; ++id) write_rows(id);
        } else {
            write_planes();
        }
        close_dataset();
    }

    /// A record that is larger than a rank may hold goes by rows in either layout.
    static bool goes_by_rows(const Job& job) {
        return job.hdf5.layout == Layout::files || records_at_once(job) == 0;
    }

  private:
    base::Share share(std::int64_t total) const {
        return base::share_of(total, place().ranks.rank(), place().ranks.world_size());
    }
    /// Rank 0's share is the longest: what it needs for it, all do.
    std::int64_t longest_share(std::int64_t total) const {
        return base::share_of(total, 0, place().ranks.world_size()).count;
    }
    static std::int64_t records_at_once(const Job& job) { return kMostBytesAtOnce / hdf5_bytes(job.size); }

    void write_planes() {
        const base::Share mine = share(job().files);
        const std::int64_t step = records_at_once(job());
        for (std::int64_t done = 0; done < longest_share(job().files); done += step) {
            const auto begin = base::IoTimes::Clock::now();
            const std::int64_t records = std::clamp<std::int64_t>(mine.count - done, 0, step);
            produce(dataset_of(0), {mine.first + done, records, 0, job().size}, Requested::collective);
            end_records(begin, records, records * hdf5_bytes(job().size));
        }
    }

    void write_rows(std::int64_t id) {
        const auto begin = base::IoTimes::Clock::now();
        const base::Share mine = share(job().size);
        const hdf5::Object& dataset = dataset_of(id);
        const std::int64_t step = rows_at_once(row_bytes());
        for (std::int64_t done = 0; done < longest_share(job().size); done += step) {
            const std::int64_t rows = std::clamp<std::int64_t>(mine.count - done, 0, step);
            produce(dataset, {id, 1, mine.first + done, rows}, Requested::collective);
        }
        const bool counts_it = id % place().ranks.world_size() == place().ranks.rank();
        end_records(begin, counts_it ? 1 : 0, mine.count * row_bytes());
    }
};

}  // namespace

StrategyEntry hdf5_parallel_collective_entry() {
    return {.name = "hdf5-parallel-collective",
            .summary = "all ranks, one HDF5 file through MPI-IO, every write made by all of them together",
            .parallel = true,
            .needs_mpi = true,
            .shared_file = true,
            .in_step = true,
            .by_rows = Hdf5ParallelCollective::goes_by_rows,
            .extension = ".h5",
            .bytes_per_record = hdf5_bytes,
            .make = make_strategy<Hdf5ParallelCollective>};
}

}  // namespace ranklab::io
