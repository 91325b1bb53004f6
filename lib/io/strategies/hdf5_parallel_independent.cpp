// All ranks create all datasets of one HDF5 file together, as parallel HDF5 demands. Then each
// writes its own records without waiting for others.
#include "io/hdf5_strategy.hpp"

namespace ranklab::io {

StrategyEntry hdf5_parallel_independent_entry() {
    return {.name = "hdf5-parallel-independent",
            .summary = "all ranks, one HDF5 file through MPI-IO, each rank its own records",
            .parallel = true,
            .shared_file = true,
            .extension = ".h5",
            .make = make_strategy<Hdf5Strategy, Hdf5Form::independent>};
}

}  // namespace ranklab::io
