// Private to this room: how a dataset lies in the file, by its size.
#pragma once

#include <span>

#include "hdf5/check.hpp"

namespace ranklab::hdf5 {

/// Creation properties: up to 2 KiB in the object's header, up to 32 KiB contiguous, above that in
/// chunks of about 256 KiB, shuffled and deflated (both filters are part of every HDF5).
Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes);

/// The product, or the largest number there is where it does not fit.
unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes);

}  // namespace ranklab::hdf5
