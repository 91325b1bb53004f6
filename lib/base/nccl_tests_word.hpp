// Our words for types as nccl-tests has them, for tools that read its output.
#pragma once

#include <string_view>

#include "base/element.hpp"

namespace ranklab::base {

/// "float" of "fp32"; a word that names no type stays.
constexpr std::string_view nccl_tests_word(std::string_view word) {
    const auto element = element_named(word);
    return element ? nccl_tests_word(*element) : word;
}

}  // namespace ranklab::base
