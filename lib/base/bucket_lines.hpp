// The lines that make a CSV a table of gradient buckets: for the room that writes it and the one that reads
// it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/element.hpp"

namespace ranklab::base {

inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

/// The types that gradients have, in the words of the command line.
inline constexpr std::array<std::pair<Element, std::string_view>, 4> kGradientTypes{
    {{Element::f32, "fp32"}, {Element::f16, "fp16"}, {Element::bf16, "bf16"}, {Element::f64, "fp64"}}};

/// Empty for a type that no gradient has.
constexpr std::string_view gradient_type(Element element) {
    for (const auto& [type, word] : kGradientTypes)
        if (type == element) return word;
    return {};
}
constexpr std::optional<Element> gradient_type(std::string_view name) {
    for (const auto& [type, word] : kGradientTypes)
        if (word == name) return type;
    return std::nullopt;
}

}  // namespace ranklab::base
