#include "data/synthetic_volumes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/random.hpp"

namespace ranklab::data {
namespace {

using Clock = std::chrono::steady_clock;

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
    Noise(SampleLayout layout, std::int64_t samples, std::shared_ptr<const std::vector<float>> pool)
        : layout_(std::move(layout)), samples_(samples), pool_(std::move(pool)) {}

    const SampleLayout& layout() const override { return layout_; }
    std::int64_t size() const override { return samples_; }

    void read(const Draw& draw, std::byte* input, std::byte* target, ReadTimes& times) const override {
        const auto start = Clock::now();
        RandomStream random(draw.random);
        copy_window(layout_.input, input, random);
        copy_window(layout_.target, target, random);
        times.read += base::seconds_since(start);
    }

  private:
    void copy_window(const Field& field, std::byte* to, RandomStream& random) const {
        const std::size_t numbers = field.elements();
        const std::size_t begin = random.below(pool_->size() - numbers + 1);
        std::memcpy(to, pool_->data() + begin, field.bytes());
    }

    SampleLayout layout_;
    std::int64_t samples_;
    std::shared_ptr<const std::vector<float>> pool_;
};

}  // namespace

DataSet open_synthetic_volumes(const DataRequest& request, comm::Communicator& control) {
    constexpr std::int64_t kTrain = 1024;
    constexpr std::int64_t kTest = 128;
    const auto train = request.train_samples > 0 ? request.train_samples : kTrain;
    const auto test = request.test_samples > 0 ? request.test_samples : kTest;
    if (train < control.world_size())
        comm::throw_on_all<base::OptionError>(
            control, 0,
            fmt::format("{} samples are too few for {} ranks; take more", train, control.world_size()),
            {"train-samples"});
    const SampleLayout layout{{Element::f32, request.input}, {Element::f32, request.target}};
    const std::int64_t largest = std::max(layout.input.elements(), layout.target.elements());
    const auto pool = std::make_shared<const std::vector<float>>(normal_numbers(2 * largest, request.seed));
    return {std::make_shared<Noise>(layout, train, pool), std::make_shared<Noise>(layout, test, pool),
            "made in memory"};
}

}  // namespace ranklab::data
