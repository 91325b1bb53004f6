#include "nn/width.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace ranklab::nn {

void require_width(std::int64_t width, std::int64_t channels, const std::string& model) {
    if (width >= 1 && channels % width == 0) return;
    std::int64_t below = std::clamp<std::int64_t>(width, 1, channels);
    while (channels % below != 0) --below;
    std::int64_t above = std::max<std::int64_t>(width, 1);
    while (above < channels && channels % above != 0) ++above;
    const bool one = above > channels || above == below;
    throw base::OptionError(
        fmt::format("the width's divisor {} does not divide the {} channels of {}; use {}", width, channels,
                    model, one ? fmt::format("{}", below) : fmt::format("{} or {}", below, above)),
        {"width"});
}

}  // namespace ranklab::nn
