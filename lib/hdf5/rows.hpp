// An array of numbers in a file, read row by row along its first axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/element.hpp"

namespace ranklab::hdf5 {

struct Rows {
    std::string name;                 ///< for messages
    std::vector<std::int64_t> shape;  ///< [rows, ...]
    std::string type;                 ///< NumPy's name, "float32"
    /// Reads row `index`, converted to f32, f64 or i64. Thread-safe. Throws DataError if the row
    /// cannot be read.
    std::function<void(std::int64_t index, base::Element as, std::byte* to)> read;

    /// The shape of one row.
    std::vector<std::int64_t> sizes() const { return {shape.begin() + 1, shape.end()}; }
};

bool names_dataset(const std::string& name);  ///< whether it is "FILE:/DATASET"
/// Opens "FILE:/DATASET" of any layout, to be read through the library. Throws OptionError for
/// another form of name, DataError unless it is a dataset of integers or floating-point numbers.
Rows open_rows(const std::string& name);

}  // namespace ranklab::hdf5
