// One rank reads, all ranks have it.
#pragma once

#include "comm/communicator.hpp"
#include "data/dataset.hpp"

namespace ranklab::data {

/// Rank 0 loads and broadcasts: a thousand ranks that each read the same files would be a storm on the shared
/// file system, and could read different things. Rank 0's DataError is thrown there, comm::PeerError on the
/// others.
DataSets load_on_all(comm::Communicator& control, const SourceEntry& source, const DataRequest& request);

}  // namespace ranklab::data
