// The eighth strategy: one process, and one HDF5 file for all records, as h5py's create_dataset makes it.
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {
namespace {

class Hdf5Serial final : public Hdf5Strategy {
  public:
    Hdf5Serial(const Job& job, const Place& place) : Hdf5Strategy(job, place, {.strategy = "hdf5-serial"}) {}

    void write() override {
        for (std::int64_t id = 0; id < job().files; ++id) produce_record(id);
        close_dataset();
    }
};

}  // namespace

StrategyEntry hdf5_serial_entry() {
    return {.name = "hdf5-serial",
            .summary = "one process, one HDF5 file with a dataset a record",
            .shared_file = true,
            .extension = ".h5",
            .bytes_per_record = hdf5_bytes,
            .make = make_strategy<Hdf5Serial>};
}

}  // namespace ranklab::io
