// The owner of one HDF5 identifier (hid_t, which is an int64_t since HDF5 1.10), so that no header
// outside this room needs hdf5.h.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/unique_handle.hpp"

namespace ranklab::hdf5 {

struct IdTraits {
    using type = std::int64_t;
    static constexpr type empty = -1;
    static void close(type id) noexcept;  ///< by the close that fits the identifier's kind; logs a failure
};
using Id = base::unique_handle<IdTraits>;

/// The HDF5 library serves one thread at a time: held by all who call it while others may, such as the
/// workers of a loader that reads volumes, and the thread that stores a checkpoint or a run meanwhile.
inline std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace ranklab::hdf5
