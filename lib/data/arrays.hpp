// A user's own samples: arrays of npy or HDF5 files whose first axis is the sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "hdf5/rows.hpp"

namespace ranklab::data {

/// Opens the request's files by `open`. Collective, like SourceEntry::open.
DataSet open_own(const DataRequest& request, comm::Communicator& control,
                 const std::function<hdf5::Rows(const std::string& name)>& open);

/// The arrays of the request's inputs and, last, of its target as a set. By default the last tenth
/// of the samples is for validation. Throws OptionError if there are too few samples.
DataSet arrays_of(const DataRequest& request, std::vector<hdf5::Rows> arrays,
                  const comm::Communicator& control, std::string origin);

}  // namespace ranklab::data
