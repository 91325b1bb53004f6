// Numbers in their own type and shape, as raw bytes: for state that must come back bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/element.hpp"
#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

using base::Element;
using base::size_of;

struct TypedArray {
    Element element = Element::u8;
    std::vector<std::int64_t> shape;  ///< empty: one number; up to 8 dimensions
    std::vector<std::byte> bytes;     ///< row-major, in this machine's byte order
};

/// Stored contiguous and uncompressed: trained numbers are as good as random. Returns at which byte of the
/// file they begin (0 where there are none).
std::uint64_t write_typed(const Group& group, const std::string& name, const TypedArray& array);

}  // namespace ranklab::hdf5
