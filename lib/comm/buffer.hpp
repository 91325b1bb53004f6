// Buffers of collectives: memory, element type, count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

template <class T>
constexpr DType dtype_of() {
    static_assert(sizeof(T) == 1 || std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
                  std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>);
    if constexpr (std::is_same_v<T, float>) return DType::f32;
    if constexpr (std::is_same_v<T, double>) return DType::f64;
    if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
    if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
    if constexpr (std::is_same_v<T, Float16>) return DType::f16;
    if constexpr (std::is_same_v<T, BFloat16>) return DType::bf16;
    return DType::u8;
}

/// Calls visit(T{}) with the C++ type of `dtype`.
template <class Visit>
auto visit_type(DType dtype, Visit visit) {
    switch (dtype) {
        case DType::u8:
            return visit(std::uint8_t{});
        case DType::i32:
            return visit(std::int32_t{});
        case DType::i64:
            return visit(std::int64_t{});
        case DType::f32:
            return visit(float{});
        case DType::f64:
            return visit(double{});
        case DType::f16:
            return visit(Float16{});
        case DType::bf16:
            return visit(BFloat16{});
    }
    throw base::Error("internal: an element type without a C++ type");
}

/// A view of contiguous host memory. Collectives that only send it do not write to it.
template <class T, std::size_t N>
BufferView view(std::span<T, N> values) {
    return {const_cast<void*>(static_cast<const void*>(values.data())), values.size(),
            dtype_of<std::remove_const_t<T>>()};
}

}  // namespace ranklab::comm
