// One process writes one HDF5 file for all records, as h5py's create_dataset does.
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {

StrategyEntry hdf5_serial_entry() {
    return {.name = "hdf5-serial",
            .summary = "one process, one HDF5 file with a dataset per record",
            .shared_file = true,
            .extension = ".h5",
            .make = make_strategy<Hdf5Strategy, Hdf5Form::serial>};
}

}  // namespace ranklab::io
