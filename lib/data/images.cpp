#include "data/images.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/resize.hpp"

namespace ranklab::data {
namespace {

using Clock = std::chrono::steady_clock;

class Images final : public Source {
  public:
    Images(ImageSet set, const ImageShape& shape)
        : set_(std::move(set)),
          layout_{{Element::u8, {shape.channels, shape.height, shape.width}}, {Element::i64, {}}} {
        if (set_.shape != shape) resize_.emplace(set_.shape, shape);
    }

    const SampleLayout& layout() const override { return layout_; }
    std::int64_t size() const override { return set_.size(); }

    void read(const Draw& draw, std::byte* input, std::byte* target, ReadTimes& times) const override {
        const auto start = Clock::now();
        const std::size_t sample = draw.index;
        const std::size_t bytes = set_.shape.bytes();
        const std::int64_t label = set_.labels[sample];
        std::memcpy(target, &label, sizeof label);
        const std::uint8_t* const image = &set_.images[sample * bytes];
        if (resize_) {
            (*resize_)(image, reinterpret_cast<std::uint8_t*>(input));
        } else {
            std::memcpy(input, image, bytes);
        }
        const double seconds = base::seconds_since(start);
        (resize_ ? times.decode : times.read) += seconds;
    }

  private:
    ImageSet set_;
    SampleLayout layout_;
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
    if (count > set.size()) {
        throw base::OptionError(
            fmt::format("{} samples are more than the {} there are; take fewer", count, set.size()),
            {setting});
    }
    set.labels.resize(count);
    set.images.resize(count * set.shape.bytes());
}

}  // namespace

std::shared_ptr<const Source> image_source(ImageSet set, const ImageShape& shape) {
    return std::make_shared<Images>(std::move(set), shape);
}

DataSet open_images(const DataRequest& request, comm::Communicator& control,
                    const std::function<ImageSets(const DataRequest&)>& load) {
    ImageSets sets;
    comm::together(control, [&] {
        if (control.rank() != 0) return;
        if (!request.is_image())
            throw base::OptionError(
                "this data set holds labelled images, the model takes volumes; use another set",
                {"data cosmology", "data synthetic"});
        sets = load(request);
        keep_first(sets.train, request.train_samples, "train-samples");
        keep_first(sets.test, request.test_samples, "validation-samples");
    });
    broadcast_set(control, sets.train);
    broadcast_set(control, sets.test);
    return {image_source(std::move(sets.train), request.image_shape()),
            image_source(std::move(sets.test), request.image_shape()),
            comm::broadcast_text(control, sets.origin, 0)};
}

}  // namespace ranklab::data
