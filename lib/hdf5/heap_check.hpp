// A check that HDF5 1.10 does not make: texts of variable length lie in global heaps, the one part of
// our files without a checksum, and the library follows damaged sizes there out of its memory.
#pragma once

#include <filesystem>

namespace ranklab::hdf5 {

/// Reads through the file (about 5 GB/s from the page cache) and throws DataError where a global heap
/// is not as the HDF5 File Format Specification (III.E) has it. Call it before reading texts from a
/// file that others may have written or damaged. For files with lengths of 8 bytes, as HDF5 makes them.
void check_text_heaps(const std::filesystem::path& path);

}  // namespace ranklab::hdf5
