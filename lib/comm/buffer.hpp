// Buffers of collectives: memory, element type, count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

#include "base/element.hpp"
#include "base/error.hpp"
#include "comm/small_floats.hpp"

namespace ranklab::comm {

using DType = base::Element;
using base::size_of;
enum class Memory { host, device };

/// `count` elements at `data`, not owned.
struct BufferView {
    void* data = nullptr;
    std::size_t count = 0;
    DType dtype = DType::u8;
    Memory memory = Memory::host;

    std::size_t bytes() const { return count * size_of(dtype); }
};

/// The C++ types of elements, in the order of DType.
using CppTypes =
    std::tuple<std::uint8_t, std::int32_t, std::int64_t, float, double, Float16, BFloat16>;

/// The DType of T; u8 for every type of one byte.
template <class T, std::size_t i = 0>
constexpr DType dtype_of() {
    if constexpr (sizeof(T) == 1 || std::is_same_v<T, std::tuple_element_t<i, CppTypes>>)
        return static_cast<DType>(i);
    else
        return dtype_of<T, i + 1>();
}

/// Calls visit(T{}) with the C++ type of `dtype`.
template <std::size_t i = 0, class Visit>
auto visit_type(DType dtype, Visit visit) {
    if constexpr (i + 1 < std::tuple_size_v<CppTypes>)
        if (dtype != static_cast<DType>(i)) return visit_type<i + 1>(dtype, visit);
    return visit(std::tuple_element_t<i, CppTypes>{});
}

/// A view of contiguous host memory. Collectives that only send it do not write to it.
template <class T, std::size_t N>
BufferView view(std::span<T, N> values) {
    return {const_cast<void*>(static_cast<const void*>(values.data())), values.size(),
            dtype_of<std::remove_const_t<T>>()};
}

}  // namespace ranklab::comm
