// Private to this room: properties of new files and datasets, and selections of a dataset's
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdf5/check.hpp"
#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

/// Bytes of a dataset's chunk cache, in place of the library's 1 MiB. The number of hash slots is a
/// prime far above the number of chunks that fit.
inline constexpr std::size_t kChunkCache = std::size_t{64} << 20U;
inline constexpr std::size_t kChunkSlots = 12421;

/// File access properties of all files of ranklab: closing the file closes its objects, and HDF5's
/// locks are off.
Id file_access();

/// Creation properties of a dataset: no time stamps, so that its bytes are reproducible, and no
/// fill values.
Id plain_dataset();

/// The layout by size: up to 2 KiB in the object's header, up to 32 KiB contiguous, above that in
/// chunks of about 256 KiB, shuffled and deflated (both filters are part of every HDF5).
Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes);

void set_chunk(const Id& properties, std::span<const hsize_t> edges);

/// The bytes of an array of this shape; the largest number if they overflow.
unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes);

std::vector<hsize_t> sizes(std::span<const std::int64_t> numbers);

std::vector<hsize_t> extents_of(const Id& space, std::string_view what);
std::vector<hsize_t> shape_of(const Object& dataset);

/// A data space of this shape: scalar without dimensions, with nothing selected if empty.
Id space_of(std::span<const hsize_t> shape, std::string_view what);
/// The dataset's space with the box selected; nothing if the box is empty.
Id select_box(const Object& dataset, std::span<const hsize_t> start,
              std::span<const hsize_t> count);

/// Throws base::Error (a bug) unless `values` has as many numbers as the dataset's selection.
void check_count(const Id& space, const Object& dataset, std::size_t values);

}  // namespace ranklab::hdf5
