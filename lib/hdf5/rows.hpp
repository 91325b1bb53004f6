// An array of numbers in a file whose first axis counts rows: each read by itself.
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
    /// Row `index`, converted to f32 or i64. Several threads at once. DataError where it cannot be
    /// read.
    std::function<void(std::int64_t index, base::Element as, std::byte* to)> read;

    /// The sizes of one row.
    std::vector<std::int64_t> sizes() const { return {shape.begin() + 1, shape.end()}; }
};

bool names_dataset(const std::string& name);  ///< as "FILE:/DATASET"
/// "FILE:/DATASET", of any layout: read through the library. OptionError for another name;
/// DataError where that is not a dataset of integers or floating-point numbers.
Rows open_rows(const std::string& name);

}  // namespace ranklab::hdf5
