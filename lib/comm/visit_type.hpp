// From an element type that is known at run time to one that the compiler knows.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "comm/buffer.hpp"

namespace ranklab::comm {

/// visit(T{}) of that type.
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

/// Every element over `by`, in host memory and in place: the last step of an average where the library has
/// none. Integers are cut off towards zero, as C++ does. The buffer may lie at any byte.
inline void divide(const BufferView& buffer, int by) {
    visit_type(buffer.dtype, [&](auto value) {
        using T = decltype(value);
        auto* bytes = static_cast<char*>(buffer.data);
        for (std::size_t i = 0; i < buffer.count; ++i, bytes += sizeof(T)) {
            std::memcpy(&value, bytes, sizeof(T));
            if constexpr (std::is_integral_v<T>)
                value = static_cast<T>(value / static_cast<std::int64_t>(by));
            else if constexpr (std::is_same_v<T, double>)
                value = value / by;
            else
                value = static_cast<T>(static_cast<float>(value) / static_cast<float>(by));
            std::memcpy(bytes, &value, sizeof(T));
        }
    });
}

}  // namespace ranklab::comm
