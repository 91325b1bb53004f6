// Element types and shapes of buffers, samples and files, and the header of a NumPy npy file.
#pragma once

#include <fmt/format.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::base {

enum class Element { u8, i32, i64, f32, f64, f16, bf16 };

/// Bytes per element.
constexpr std::size_t size_of(Element element) {
    constexpr std::array<std::size_t, 7> kBytes{1, 4, 8, 4, 8, 2, 2};
    return kBytes.at(static_cast<std::size_t>(element));
}

/// Names on the command line, in tables and in files.
inline constexpr std::array<std::string_view, 7> kElementWords{"uint8", "int32", "int64", "fp32",
                                                               "fp64",  "fp16",  "bf16"};
constexpr std::string_view word_of(Element element) {
    return kElementWords.at(static_cast<std::size_t>(element));
}
constexpr std::optional<Element> element_named(std::string_view word) {
    for (std::size_t i = 0; i < kElementWords.size(); ++i)
        if (kElementWords[i] == word) return static_cast<Element>(i);
    return std::nullopt;
}
/// Translates a type's name into the name in nccl-tests ("fp32" into "float"); options accept both.
/// Returns other words unchanged.
constexpr std::string_view nccl_tests_word(std::string_view word) {
    constexpr std::array<std::string_view, 7> kWords{"uint8",  "int32", "int64",   "float",
                                                     "double", "half",  "bfloat16"};
    const auto element = element_named(word);
    return element ? kWords.at(static_cast<std::size_t>(*element)) : word;
}
constexpr bool is_floating(Element element) {
    return element == Element::f32 || element == Element::f64 || element == Element::f16 ||
           element == Element::bf16;
}

/// Element type and shape of a dense array in C order.
struct Field {
    Element element = Element::f32;
    std::vector<std::int64_t> sizes;  ///< shape; [] is a scalar

    std::int64_t elements() const {
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    }
    std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(element); }
    /// The array's size in words of 8 bytes, rounded up.
    std::int64_t words() const { return (static_cast<std::int64_t>(bytes()) + 7) / 8; }
    bool operator==(const Field&) const = default;
};

/// The layout of several fields in one int64 array: one after another, each aligned to 8 bytes. A
/// single field keeps its own type and shape.
inline Field packed(const std::vector<Field>& fields) {
    if (fields.size() == 1) return fields.front();
    std::int64_t words = 0;
    for (const auto& field : fields) words += field.words();
    return {Element::i64, {words}};
}

/// The bytes that numpy.save writes before an array in C order: format version 1.0, padded to a
/// multiple of 64. `descr` is NumPy's type text ("<f4", "<f8"). Format:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
inline std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
    std::string dictionary =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
    for (const std::int64_t extent : shape) dictionary += fmt::format("{}, ", extent);
    if (shape.size() > 1) dictionary.resize(dictionary.size() - 2);
    dictionary += "), }";
    constexpr std::size_t kBefore = 10;
    const std::size_t whole = (kBefore + dictionary.size() + 1 + 63) / 64 * 64;
    dictionary.resize(whole - kBefore - 1, ' ');
    dictionary += '\n';
    std::string text("\x93NUMPY");
    text += {'\x01', '\x00'};
    text += static_cast<char>(dictionary.size() & 0xFFU);
    text += static_cast<char>(dictionary.size() >> 8U);
    return text + dictionary;
}

}  // namespace ranklab::base
