#include "data/arrays.hpp"

namespace ranklab::data {

SourceEntry hdf5_entry() {
    return {.name = "hdf5",
            .summary = "your own samples in datasets of HDF5 files, for your own network",
            .reads_in_turn = true,
            .own_files = true,
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_own(request, control, hdf5::open_rows);
            }};
}

}  // namespace ranklab::data
