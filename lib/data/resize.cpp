#include "data/resize.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"

namespace ranklab::data {
namespace {

// 8 bits of a pixel, 22 of a weight and 2 to spare are 32.
constexpr int kWeightBits = 22;
constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

std::uint8_t rounded(std::int32_t sum) {
    return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

}  // namespace

BilinearResize::BilinearResize(const ImageShape& from, const ImageShape& to)
    : from_(from),
      to_(to),
      across_(make_filter(from.width, to.width)),
      down_(make_filter(from.height, to.height)) {}

BilinearResize::Filter BilinearResize::make_filter(std::int64_t from, std::int64_t to) {
    const double scale = base::real(from) / base::real(to);
    const double support = std::max(scale, 1.0);  // half the triangle's base, in input pixels
    Filter filter;
    filter.taps = static_cast<std::int64_t>(std::ceil(support)) * 2 + 1;
    filter.weights.assign(to * filter.taps, 0);
    std::vector<double> weights;
    for (std::int64_t out = 0; out < to; ++out) {
        const double centre = (base::real(out) + 0.5) * scale;
        const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
        const auto end = std::min<std::int64_t>(static_cast<std::int64_t>(centre + support + 0.5), from);
        weights.clear();
        double sum = 0;
        for (std::int64_t in = first; in < end; ++in) {
            const double distance = std::abs((base::real(in) - centre + 0.5) / support);
            weights.push_back(std::max(0.0, 1.0 - distance));
            sum += weights.back();
        }
        filter.first.push_back(first);
        for (std::size_t k = 0; k < weights.size(); ++k)
            filter.weights[static_cast<std::size_t>(out * filter.taps) + k] =
                static_cast<std::int32_t>(0.5 + weights[k] / sum * (1 << kWeightBits));
    }
    return filter;
}

void BilinearResize::operator()(const std::uint8_t* image, std::uint8_t* resized) const {
    std::vector<std::uint8_t> rows(from_.height * to_.width);
    std::vector<std::int32_t> sums(to_.width);
    for (std::int64_t c = 0; c < from_.channels; ++c) {
        for (std::int64_t y = 0; y < from_.height; ++y)
            resize_row(image + (c * from_.height + y) * from_.width, rows.data() + y * to_.width);
        for (std::int64_t y = 0; y < to_.height; ++y)
            mix_rows(rows, y, sums, resized + (c * to_.height + y) * to_.width);
    }
}

// Pixels that a filter's padding would reach past the last one have weight 0: they are not touched.
void BilinearResize::resize_row(const std::uint8_t* in, std::uint8_t* out) const {
    for (std::int64_t x = 0; x < to_.width; ++x) {
        const auto [first, taps, weights] = across_.at(x, from_.width);
        std::int32_t sum = kHalf;
        for (std::int64_t k = 0; k < taps; ++k) sum += in[first + k] * weights[k];
        out[x] = rounded(sum);
    }
}

void BilinearResize::mix_rows(const std::vector<std::uint8_t>& rows, std::int64_t y,
                              std::vector<std::int32_t>& sums, std::uint8_t* out) const {
    const auto [first, taps, weights] = down_.at(y, from_.height);
    std::fill(sums.begin(), sums.end(), kHalf);
    for (std::int64_t k = 0; k < taps; ++k) {
        const std::int32_t weight = weights[k];
        const std::uint8_t* const in = rows.data() + (first + k) * to_.width;
        for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += in[x] * weight;
    }
    for (std::size_t x = 0; x < sums.size(); ++x) out[x] = rounded(sums[x]);
}

BilinearResize::Taps BilinearResize::Filter::at(std::int64_t out, std::int64_t inputs) const {
    const std::size_t i = out;
    return {first[i], std::min(taps, inputs - first[i]), weights.data() + out * taps};
}

}  // namespace ranklab::data
