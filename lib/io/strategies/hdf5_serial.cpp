// One process writes one HDF5 file for all records, as h5py's create_dataset does.
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {

StrategyEntry hdf5_serial_entry() {
    return {.name = "hdf5-serial",
            .summary = "one process, one HDF5 file with a dataset per record",
            .shared_file = true,
            .extension = ".h5",
            .make = [](const Job& job, const Place& place) -> std::unique_ptr<Strategy> {
                return std::make_unique<Hdf5Strategy>(job, place, Hdf5Form::serial);
            }};
}

}  // namespace ranklab::io
