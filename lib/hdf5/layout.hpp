// Private to this room: properties of new files and datasets, and selections of a dataset's
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdf5/check.hpp"
#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

/// A dataset's cache of chunks, in place of the library's 1 MiB; the slots are a prime, far above
/// the number of chunks that fit.
inline constexpr std::size_t kChunkCache = std::size_t{64} << 20U;
inline constexpr std::size_t kChunkSlots = 12421;

/// File access properties of all our files: a file ends with all its objects, and HDF5's own locks
/// are off.
Id file_access();

/// Creation properties of a dataset without times, so that its bytes are the same at every run. New
/// datasets are not filled.
Id plain_dataset();

/// The layout by size: up to 2 KiB in the object's header, up to 32 KiB contiguous, above that in
/// chunks of about 256 KiB, shuffled and deflated (both filters are part of every HDF5).
Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes);

void set_chunk(const Id& properties, std::span<const hsize_t> edges);

/// The product, or the largest number there is where it does not fit.
unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes);

std::vector<hsize_t> sizes(std::span<const std::int64_t> numbers);

std::vector<hsize_t> extents_of(const Id& space, std::string_view what);
std::vector<hsize_t> shape_of(const Object& dataset);

/// A space of that shape, a scalar one of no dimensions; nothing of it is selected where it is
/// empty.
Id space_of(std::span<const hsize_t> shape, std::string_view what);
/// The dataset's space, with this box of it selected; nothing, where the box is empty.
Id select_box(const Object& dataset, std::span<const hsize_t> start,
              std::span<const hsize_t> count);

/// Throws base::Error (a bug) unless `values` has as many numbers as the dataset's selection.
void check_count(const Id& space, const Object& dataset, std::size_t values);

}  // namespace ranklab::hdf5
