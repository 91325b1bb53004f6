#include "data/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;
using base::Clock;

class Images final : public Source {
  public:
    Images(ImageSet set, const ImageShape& shape)
        : Source({{Element::u8, {shape.channels, shape.height, shape.width}}, {Element::i64, {}}},
                 set.size()),
          set_(std::move(set)) {
        if (set_.shape != shape) resize_.emplace(set_.shape, shape);
    }

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = Clock::now();
        const std::size_t sample = draw.index;
        const std::size_t bytes = set_.shape.bytes();
        const std::int64_t label = set_.labels[sample];
        std::memcpy(target, &label, sizeof label);
        const std::uint8_t* const image = &set_.images[sample * bytes];
        if (resize_)
            (*resize_)(image, reinterpret_cast<std::uint8_t*>(input));
        else
            std::memcpy(input, image, bytes);
        (resize_ ? times.decode : times.read) += base::seconds_since(start);
    }

  private:
    ImageSet set_;
    std::optional<BilinearResize> resize_;
};

void broadcast_bytes(comm::Communicator& control, std::vector<std::uint8_t>& bytes) {
    bytes.resize(comm::from_root(control, std::ssize(bytes)));
    control.broadcast(comm::view(std::span(bytes)), 0);
}

void broadcast_set(comm::Communicator& control, ImageSet& set) {
    set.shape = comm::from_root(control, set.shape);
    set.classes = comm::from_root(control, set.classes);
    broadcast_bytes(control, set.images);
    broadcast_bytes(control, set.labels);
}

void keep_first(ImageSet& set, std::int64_t count, const char* setting) {
    if (count == 0) return;
    if (count > set.size())
        throw base::OptionError(
            fmt::format("{} samples are wanted, but the set has {}; use fewer", count, set.size()),
            {setting});
    set.labels.resize(count);
    set.images.resize(count * set.shape.bytes());
}

}  // namespace

fs::path plain_or_gz(const fs::path& folder, const std::string& name) {
    const fs::path plain = folder / name, packed = folder / (name + ".gz");
    return !fs::exists(plain) && fs::exists(packed) ? packed : plain;
}

fs::path find_image_folder(const ImagePlace& place, const std::string& directory) {
    std::vector<std::string> roots{data_root(directory)};
    if (directory.empty()) roots.push_back(place.usual);
    std::vector<std::string> searched;
    for (const fs::path root : roots)
        for (const auto& below : place.below) {
            if (root.empty()) continue;
            const fs::path folder = below.empty() ? root : root / below;
            if (fs::exists(plain_or_gz(folder, place.file))) return folder;
            searched.push_back(folder.string());
        }
    throw base::DataError(fmt::format("no {} found: there is no {} in {}; {}", place.what,
                                      place.file, base::join(searched, ", "), place.how_to_get),
                          {"data-dir", "RANKLAB_DATA", "data synthetic"});
}

std::shared_ptr<const Source> image_source(ImageSet set, const ImageShape& shape) {
    return std::make_shared<Images>(std::move(set), shape);
}

DataSet open_images(const DataRequest& request, comm::Communicator& control,
                    const std::function<ImageSets()>& load) {
    ImageSets sets;
    comm::on_root(control, [&] {
        if (!request.is_image())
            throw base::OptionError(
                "this data set holds labelled images, which the model does not take; use another "
                "set",
                {"data synthetic"});
        sets = load();
        keep_first(sets.train, request.train_samples, "train-samples");
        keep_first(sets.test, request.test_samples, "validation-samples");
    });
    broadcast_set(control, sets.train);
    broadcast_set(control, sets.test);
    return {image_source(std::move(sets.train), request.image_shape()),
            image_source(std::move(sets.test), request.image_shape()),
            comm::broadcast_text(control, sets.origin, 0)};
}

namespace {

// An output pixel's weights add up to about 2^22: a weighted sum of bytes fits into 31 bits.
constexpr int kWeightBits = 22;
constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

std::uint8_t rounded(std::int32_t sum) {
    return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

}  // namespace

BilinearResize::BilinearResize(const ImageShape& from, const ImageShape& to)
    : from_(from),
      to_(to),
      across_(make_taps(from.width, to.width)),
      down_(make_taps(from.height, to.height)) {}

std::vector<BilinearResize::Taps> BilinearResize::make_taps(std::int64_t from, std::int64_t to) {
    const double scale = base::real(from) / base::real(to);
    const double support = std::max(scale, 1.0);  // half the triangle's base, in input pixels
    std::vector<Taps> all;
    std::vector<double> weights;
    for (std::int64_t out = 0; out < to; ++out) {
        const double centre = (base::real(out) + 0.5) * scale;
        const auto first =
            std::max(static_cast<std::int64_t>(centre - support + 0.5), std::int64_t{0});
        const auto end = std::min(static_cast<std::int64_t>(centre + support + 0.5), from);
        weights.clear();
        double sum = 0;
        for (std::int64_t in = first; in < end; ++in) {
            const double distance = std::abs((base::real(in) - centre + 0.5) / support);
            weights.push_back(std::max(0.0, 1.0 - distance));
            sum += weights.back();
        }
        Taps& taps = all.emplace_back(Taps{first, {}});
        for (const double weight : weights)
            taps.weights.push_back(
                static_cast<std::int32_t>(0.5 + weight / sum * (1 << kWeightBits)));
    }
    return all;
}

void BilinearResize::operator()(const std::uint8_t* image, std::uint8_t* resized) const {
    std::vector<std::uint8_t> rows(from_.height * to_.width);
    std::vector<std::int32_t> sums(to_.width);
    for (std::int64_t c = 0; c < from_.channels; ++c) {
        std::uint8_t* row = rows.data();
        for (std::int64_t y = 0; y < from_.height; ++y, image += from_.width)
            for (const auto& [first, weights] : across_)
                *row++ = rounded(
                    std::inner_product(weights.begin(), weights.end(), image + first, kHalf));
        for (const auto& [first, weights] : down_) {
            std::ranges::fill(sums, kHalf);
            const std::uint8_t* in = rows.data() + first * to_.width;
            for (const std::int32_t weight : weights)
                for (auto& sum : sums) sum += *in++ * weight;
            resized = std::ranges::transform(sums, resized, rounded).out;
        }
    }
}

}  // namespace ranklab::data
