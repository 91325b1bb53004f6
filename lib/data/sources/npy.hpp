// NumPy's npy files, version 1.0 (what numpy.save writes of a plain array): one array of
// little-endian numbers. Format: "\x93NUMPY", two version bytes, the header's length in 2 bytes, a
// Python dictionary of 'descr', 'fortran_order' and 'shape', then the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/volume_field.hpp"
#include "hdf5/array.hpp"

namespace ranklab::data {

/// Kinds as in NumPy's "<f4": 'b' bool, 'u' and 'i' integers, 'f' floating-point. 1 to 8 bytes.
struct NpyType {
    char kind = 'f';
    std::size_t bytes = 4;

    std::string name() const;  ///< NumPy's: "float32"
};

struct NpyHeader {
    NpyType type;
    std::vector<std::int64_t> shape;
    std::uint64_t data_offset = 0;  ///< where the values begin in the file
};

/// Reads and checks the header. Throws DataError as open_npy_rows.
NpyHeader read_npy_header(const std::string& name);

/// The file `name` as shape[0] windows of shape[1..] numbers each; a window begins `stride` numbers
/// after the one before.
hdf5::Rows npy_windows(const std::string& name, const NpyHeader& header, std::int64_t stride,
                       std::optional<ByteAccess> access = {});

/// The rows of "X.npy". `access`: by default mapped on a local file system and read on others. Give
/// `read` for a pass over the whole file: mapped pages count as this process's memory. Throws
/// DataError with the file's name for any fault: not an npy file, another type, an impossible
/// shape, missing or surplus values. Memory grows with the file's contents, never with the sizes in
/// its header.
hdf5::Rows open_npy_rows(const std::string& name, std::optional<ByteAccess> access = {});

}  // namespace ranklab::data
