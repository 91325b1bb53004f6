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

/// The first `train` of the samples are for training and the last `test` for validation.
struct Split {
    std::int64_t train = 0, test = 0;
};
/// The split that the request asks for, by default the last tenth for validation. Throws
/// OptionError if there are too few samples.
Split split_of(const DataRequest& request, std::int64_t samples, int ranks);

}  // namespace ranklab::data
