// The ninth strategy: all ranks make all datasets of one HDF5 file together, as parallel HDF5 demands, then
// each writes whole records of its own, waiting for nobody.
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {
namespace {

class Hdf5ParallelIndependent final : public Hdf5Strategy {
  public:
    Hdf5ParallelIndependent(const Job& job, const Place& place)
        : Hdf5Strategy(job, place, {.strategy = "hdf5-parallel-independent", .parallel = true}) {}

    void write() override {
        const auto share = base::share_of(job().files, place().ranks.rank(), place().ranks.world_size());
        for (std::int64_t id = share.first; id < share.end(); ++id) produce_record(id);
        close_dataset();
    }
    // HDF5 closes a shared file on all ranks together, and who waits inside it hears of no signal that stops
    // another one in its records: so all meet before.
    void close() override {
        meet();
        Hdf5Strategy::close();
    }

  private:
    void meet() {
        const auto mark = place().times.phase(base::IoPhase::close);
        comm::together_politely(
            place().ranks, [] {}, [this] { place().done(0); });
    }
};

}  // namespace

StrategyEntry hdf5_parallel_independent_entry() {
    return {.name = "hdf5-parallel-independent",
            .summary = "all ranks, one HDF5 file through MPI-IO, each rank its own records",
            .parallel = true,
            .needs_mpi = true,
            .shared_file = true,
            .extension = ".h5",
            .bytes_per_record = hdf5_bytes,
            .make = make_strategy<Hdf5ParallelIndependent>};
}

}  // namespace ranklab::io
