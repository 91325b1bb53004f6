// Noise in the shape of a model's volumes.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "data/dataset.hpp"

namespace ranklab::data {

/// N(0, 1), input and target apart. A sample is a window, begun at a place that follows from Draw.random, of
/// a pool of numbers twice its size that is made once: samples of other ranks, steps and seeds really
/// differ, and cost a copy. 1,024 and 128 samples where the request names no number. OptionError where those
/// are too few for the ranks.
DataSet open_synthetic_volumes(const DataRequest& request, comm::Communicator& control);

}  // namespace ranklab::data
