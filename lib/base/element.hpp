// The types of numbers that buffers, samples and files hold.
#pragma once

#include <array>
#include <cstddef>

namespace ranklab::base {

enum class Element { u8, i32, i64, f32, f64, f16, bf16 };

/// Bytes of one.
constexpr std::size_t size_of(Element element) {
    constexpr std::array<std::size_t, 7> kBytes{1, 4, 8, 4, 8, 2, 2};
    return kBytes.at(static_cast<std::size_t>(element));
}

}  // namespace ranklab::base
