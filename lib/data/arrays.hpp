// A user's own samples: arrays of npy or HDF5 files whose first axis is the sample.
#pragma once

#include <functional>
#include <string>

#include "data/dataset.hpp"
#include "hdf5/rows.hpp"

namespace ranklab::data {

/// "X.npy": mapped on a local file system, read on any other. DataError for what is not as it
/// should be.
hdf5::Rows open_npy_rows(const std::string& name);

/// The request's files as samples, opened by `open`: the last ones for validation. Collective, as
/// SourceEntry::open.
DataSet open_own(const DataRequest& request, comm::Communicator& control,
                 const std::function<hdf5::Rows(const std::string& name)>& open);

}  // namespace ranklab::data
