// The owner of one HDF5 identifier (hid_t, which is an int64_t since HDF5 1.10), so that no header
// outside this room needs hdf5.h.
#pragma once

#include <cstdint>

#include "base/unique_handle.hpp"

namespace ranklab::hdf5 {

struct IdTraits {
    using type = std::int64_t;
    static constexpr type empty = -1;
    static void close(type id) noexcept;  ///< by the close that fits the identifier's kind; logs a failure
};
using Id = base::unique_handle<IdTraits>;

}  // namespace ranklab::hdf5
