// From an element type that is known at run time to one that the compiler knows.
#pragma once

#include <cstdint>

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

}  // namespace ranklab::comm
