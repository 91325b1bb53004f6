// The HDF5 library serves one thread at a time.
#pragma once

#include <mutex>

namespace ranklab::hdf5 {

/// Held by whoever calls the library while others may: the workers of a loader that reads volumes through it,
/// and who stores a checkpoint or a run meanwhile. One for the process, as the library is.
std::recursive_mutex& library_mutex();

}  // namespace ranklab::hdf5
