// A user's own samples: arrays of npy or HDF5 files whose first axis is the sample.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/dataset.hpp"
#include "hdf5/array.hpp"

namespace ranklab::data {

/// Opens the request's files by `open`. Collective, like SourceEntry::open.
DataSet open_own(const DataRequest& request, comm::Communicator& control,
                 const std::function<hdf5::Rows(const std::string& name)>& open);

/// Makes data sets of the arrays, the last of which holds the targets: the first samples are for
/// training, the last ones (by default a tenth) for validation. Throws OptionError for too few.
DataSet split_arrays(const DataRequest& request, int ranks, const std::vector<hdf5::Rows>& arrays,
                     const std::vector<Field>& fields, const std::string& origin);

}  // namespace ranklab::data
