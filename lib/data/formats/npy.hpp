// NumPy's npy files, version 1.0 (what numpy.save writes of a plain array): one array of
// little-endian numbers. Format: "\x93NUMPY", two version bytes, the header's length in 2 bytes, a
// Python dictionary of 'descr', 'fortran_order' and 'shape', then the values.
#pragma once

#include <string>

#include "hdf5/rows.hpp"

namespace ranklab::data {

/// The rows of "X.npy", mapped on a local file system and read on others. Throws DataError with the
/// file's name for any fault: not an npy file, another type, an impossible shape, missing or
/// surplus values. Memory grows with the file's contents, never with the sizes in its header.
hdf5::Rows open_npy_rows(const std::string& name);

}  // namespace ranklab::data
