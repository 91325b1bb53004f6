// The HDF5 library serves one thread at a time.
#pragma once

#include <mutex>

namespace ranklab::hdf5 {

/// Held by whoever calls the library while others may: the workers of a loader that reads volumes through it,
/// and who stores a checkpoint or a run meanwhile. One for the process, as the library is.
inline std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace ranklab::hdf5
