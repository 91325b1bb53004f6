#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/class_images.hpp"
#include "data/images.hpp"

namespace ranklab::data {
namespace {

ImageSet images_of(const DataRequest& request, const ClassImages& images, std::int64_t count,
                   std::uint64_t stream) {
    std::mt19937_64 random(request.seed * 1000003U + stream);
    ImageSet set{request.image_shape(), request.classes, {}, {}};
    set.images.resize(count * set.shape.bytes());
    set.labels.resize(count);
    for (std::size_t i = 0; i < set.labels.size(); ++i) {
        set.labels[i] = static_cast<std::uint8_t>(random() % request.classes);
        images.draw(set.labels[i], random, &set.images[i * set.shape.bytes()]);
    }
    return set;
}

// Returns `asked`; if 0, the usual number of samples, or fewer that fit into 256 MiB.
std::int64_t count_or(std::int64_t asked, std::int64_t usual, const ImageShape& shape) {
    constexpr std::int64_t kMostBytes = 1 << 28;
    return asked > 0 ? asked : std::clamp<std::int64_t>(kMostBytes / shape.bytes(), 1, usual);
}

ImageSets load(const DataRequest& request) {
    const auto shape = request.image_shape();
    const ClassImages images(shape, request.classes, request.seed);
    return {images_of(request, images, count_or(request.train_samples, 10000, shape), 1),
            images_of(request, images, count_or(request.test_samples, 2000, shape), 2),
            "made in memory"};
}

// The Box-Muller transform.
std::vector<float> normal_numbers(std::size_t count, std::uint64_t seed) {
    RandomStream random(seed);
    std::vector<float> numbers(count + count % 2);
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
        const double radius = std::sqrt(-2 * std::log(random.uniform()));
        const double angle = 2 * std::numbers::pi * random.uniform();
        numbers[i] = static_cast<float>(radius * std::cos(angle));
        numbers[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
    return numbers;
}

class Noise final : public Source {
  public:
    /// Integers are below `classes`.
    Noise(std::vector<Field> inputs, Field target, std::int64_t samples, std::int64_t classes,
          std::shared_ptr<const std::vector<float>> pool)
        : Source({base::packed(inputs), std::move(target)}, samples),
          inputs_(std::move(inputs)),
          classes_(classes),
          pool_(std::move(pool)) {}

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = base::Clock::now();
        RandomStream random(draw.random);
        for (const auto& each : inputs_) {
            fill(each, input, random);
            input += 8 * each.words();
        }
        fill(layout().target, target, random);
        times.read += base::seconds_since(start);
    }

  private:
    void fill(const Field& field, std::byte* to, RandomStream& random) const {
        const std::size_t numbers = field.elements();
        if (field.element == Element::i64) {
            auto* const whole = reinterpret_cast<std::int64_t*>(to);
            std::generate_n(whole, numbers, [&] { return random.below(classes_); });
            return;
        }
        const float* const begin = pool_->data() + random.below(pool_->size() - numbers + 1);
        if (field.element == Element::f64)
            std::copy_n(begin, numbers, reinterpret_cast<double*>(to));
        else
            std::memcpy(to, begin, field.bytes());
    }

    std::vector<Field> inputs_;
    std::uint64_t classes_;
    std::shared_ptr<const std::vector<float>> pool_;
};

// Noise from N(0, 1). A sample is a window of a pool of numbers, which is made once and has twice
// the sample's size. Draw.random determines where the window begins. So samples differ between
// ranks, steps and seeds, and each costs one copy.
DataSet open_noise(const DataRequest& request, comm::Communicator& control) {
    const auto train = request.train_samples > 0 ? request.train_samples : 1024;
    const auto test = request.test_samples > 0 ? request.test_samples : 128;
    if (train < control.world_size())
        comm::throw_on_all<base::OptionError>(
            control, 0,
            fmt::format("{} samples are too few for {} ranks; use more samples", train,
                        control.world_size()),
            {"train-samples"});
    const auto inputs =
        request.is_own() ? request.own_inputs : std::vector{Field{Element::f32, request.input}};
    const auto target = request.is_own() ? request.own_target : Field{Element::f32, request.target};
    std::int64_t largest = target.elements();
    for (const auto& each : inputs) largest = std::max(largest, each.elements());
    const auto pool =
        std::make_shared<const std::vector<float>>(normal_numbers(2 * largest, request.seed));
    const auto noise = [&](std::int64_t samples) {
        return std::make_shared<Noise>(inputs, target, samples, request.classes, pool);
    };
    return {noise(train), noise(test), "made in memory"};
}

DataSet open(const DataRequest& request, comm::Communicator& control) {
    if (request.is_own() || !request.is_image()) return open_noise(request, control);
    return open_images(request, control, [&] { return load(request); });
}

}  // namespace

SourceEntry synthetic_entry() {
    return {.name = "synthetic",
            .summary = "noisy class patterns, or noise alone, in the model's shape, made in memory",
            .pixel_mean = {0.5},
            .pixel_std = {0.25},
            .open = open};
}

}  // namespace ranklab::data
