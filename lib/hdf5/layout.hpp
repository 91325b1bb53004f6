// Private to lib/hdf5: includes hdf5.h, and checks its calls; properties of new files and datasets;
// transfers of whole datasets and boxes; MPI-IO. check.cpp opens the library before main.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/element.hpp"
#include "hdf5/dataset_file.hpp"
#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "ranklab needs HDF5 1.10 or newer");

/// The library's error stack: the outermost message, then the innermost cause.
std::string library_text();

/// Throws Hdf5Error with `what` the failed call worked on, and library_text().
[[noreturn]] void fail(std::string_view what);

/// Calls a function of the library, check<H5Fflush>(what, file, scope), and returns its result.
/// Throws Hdf5Error on failure: a negative number or null pointer.
template <auto Function, class... Arguments>
auto check(std::string_view what, Arguments... arguments) {
    const auto result = Function(arguments...);
    bool failed = false;
    if constexpr (std::is_pointer_v<decltype(Function(arguments...))>)
        failed = result == nullptr;
    else if constexpr (std::is_signed_v<decltype(result)> ||
                       std::is_enum_v<decltype(Function(arguments...))>)
        failed = result < 0;
    if (failed) fail(what);
    return result;
}

/// check() for calls that return an identifier, which the Id owns.
template <auto Function, class... Arguments>
Id own(std::string_view what, Arguments... arguments) {
    return Id(check<Function>(what, arguments...));
}

/// Throws DataError if `bytes` exceeds 4 GiB or what the object's file can hold, so that a damaged
/// header does not cause a huge allocation.
void check_claim(hid_t object, unsigned long long bytes, std::string_view what);

/// A type for UTF-8 text of `size` bytes (padded with NUL) or H5T_VARIABLE.
Id text_type(std::size_t size);

/// Slots of a chunk cache: a prime, far above the number of chunks that fit.
inline constexpr std::size_t kChunkSlots = 12421;

/// HDF5's type of an element in memory. Throws base::Error for one that our files do not have.
hid_t native_type(base::Element element);

/// File access properties: closing a file closes its objects, and HDF5's own locks are off.
Id file_access();

/// Creation properties of a dataset without fill values and time stamps, so that its bytes are
/// equal in every run.
Id plain_dataset();

/// The layout by size: up to 2 KiB in the object's header, up to 32 KiB contiguous, above that in
/// chunks of about 256 KiB, shuffled and deflated (both filters are part of every HDF5).
Id layout_for(std::span<const hsize_t> shape, std::size_t element_bytes);

void set_chunk(const Id& properties, std::span<const hsize_t> edges);

/// Size of an array of this shape; the largest number on overflow.
unsigned long long bytes_of(std::span<const hsize_t> shape, std::size_t element_bytes);

std::vector<hsize_t> sizes(std::span<const std::int64_t> numbers);

std::vector<hsize_t> shape_of(const Object& dataset);

/// Throws DataError if values lie in other files: HDF5 reads zeros if such a file is missing.
void refuse_other_files(const Object& dataset);

/// Creates the dataset `name` in `place` (a group or a file), called `path` in messages.
Object create_dataset(hid_t place, const std::string& name, const std::string& path, hid_t type,
                      std::span<const hsize_t> shape, const Id& properties);

/// Transfer a whole dataset; an empty one needs no `values`.
void write_whole(const Object& dataset, hid_t type, const void* values);
void read_whole(const Object& dataset, hid_t type, void* values);

/// Writes `size` values, row-major. Throws base::Error (a bug) if `box` has another size.
void write_box(const Object& dataset, const Box& box, hid_t type, const void* values,
               std::size_t size, hid_t transfer = H5P_DEFAULT);
/// Reads a box, row-major; the whole dataset if it has no dimensions. Throws DataError if HDF5
/// cannot read the box: the file was checked when opened, so it is damaged.
void read_box(const Object& dataset, const Box& box, hid_t type, void* values);

// MPI-IO for files of several ranks. With an HDF5 without MPI use_mpi_io() throws EnvironmentError,
// and the other functions return empty values.

/// Sets the MPI-IO driver in file access properties. Throws OptionError for a hint that MPI
/// refuses.
void use_mpi_io(const Id& access, const DatasetFileOptions& options);
/// Transfer properties for MPI-IO.
Id mpi_transfer(Requested requested);
/// What HDF5 reports of the last transfer with these properties.
Transfer outcome_of(const Id& transfer, Requested requested);
/// Facts: "implementation" (of MPI-IO), and "hint KEY" for each hint in effect.
Facts describe_mpi_io(const Id& file, const std::string& path);

}  // namespace ranklab::hdf5
