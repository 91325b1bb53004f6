// A user's own samples: arrays of npy or HDF5 files whose first axis is the sample.
#pragma once

#include <functional>
#include <string>

#include "data/dataset.hpp"
#include "hdf5/rows.hpp"

namespace ranklab::data {

/// Opens the request's files by `open`. The last samples are for validation. Collective, like
/// SourceEntry::open.
DataSet open_own(const DataRequest& request, comm::Communicator& control,
                 const std::function<hdf5::Rows(const std::string& name)>& open);

/// Samples for training, the first ones, and for validation, the last ones.
struct Split {
    std::int64_t train, test;
};
/// By default the last tenth of a file's samples is for validation. Throws OptionError if there are
/// too few samples.
Split split_of(const DataRequest& request, std::int64_t samples, std::int64_t ranks);

}  // namespace ranklab::data
