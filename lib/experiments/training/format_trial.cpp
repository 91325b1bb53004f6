#include "experiments/training/format_trial.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/model_of.hpp"
#include "experiments/training/resources.hpp"
#include "host/process.hpp"
#include "train/channels_last.hpp"
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

std::vector<std::int64_t> batch_of(std::int64_t count, std::vector<std::int64_t> sizes) {
    sizes.insert(sizes.begin(), count);
    return sizes;
}

// A model, and a batch of random numbers, for steps of forward and backward.
class Trial {
  public:
    Trial(const TrainingOptions& options, std::int64_t batch, torch::Device device) {
        SpeedOptions speed = options.speed;
        speed.jit = false;  // another graph a format would cost more than it tells
        model_ = prepared(make_model(options), speed, device, options.settings.model);
        const auto shape = data_request(options);
        const auto type = torch::TensorOptions(speed.parameter_type());
        input_ = torch::randn(batch_of(batch, shape.input), type).to(device);
        targets_ = shape.target.empty() ? torch::randint(shape.classes, {batch}, torch::kLong)
                                        : torch::randn(batch_of(batch, shape.target), type);
        targets_ = targets_.to(device);
    }

    double step_s(bool channels_last) {
        train::use_channels_last(*model_, channels_last);
        model_->zero_grad();
        const auto start = base::Clock::now();
        const auto loss =
            model_->loss(model_->forward(channels_last ? train::channels_last(input_) : input_), targets_);
        loss.backward();
        static_cast<void>(loss.item<double>());  // waits for a device
        return base::seconds_since(start);
    }

  private:
    std::shared_ptr<nn::Model> model_;
    torch::Tensor input_;
    torch::Tensor targets_;
};

FormatChoice try_both(const TrainingOptions& options, const RunContext& around, std::int64_t batch,
                      torch::Device device) {
    Trial trial(options, batch, device);
    const auto step = [&](bool channels_last) {
        around.progress.activity("trying both memory formats");
        stop_if_asked(around.control, "before the first step; nothing was measured");
        double seconds = trial.step_s(channels_last);
        // Of the slowest rank: all decide alike.
        around.control.allreduce(comm::view(std::span(&seconds, 1)), comm::ReduceOp::max);
        return seconds;
    };
    if (!options.common.time_limit.has_value()) return try_formats(step);
    return try_formats(step, std::min(kLongestTrial, *options.common.time_limit / 10));
}

// The memory that the trial took is given back, and its peak forgotten.
FormatChoice tried(const TrainingOptions& options, const RunContext& around, std::int64_t batch,
                   torch::Device device) {
    const auto start = base::Clock::now();
    const auto before = host::peak_rss_bytes();
    auto choice = try_both(options, around, batch, device);
    if (!device.is_cpu()) train::empty_cuda_cache();
    choice.memory = {before, host::restart_peak_rss() ? 0 : host::peak_rss_bytes()};
    choice.trial_s = base::seconds_since(start);
    return choice;
}

}  // namespace

FormatChoice trial_choice(const TrainingOptions& options, const RunContext& around, std::int64_t samples,
                          torch::Device device) {
    // No step has more than a rank's share of the data.
    const std::int64_t ranks = around.control.world_size();
    const auto batch = std::min(*options.settings.batch_size, (samples + ranks - 1) / ranks);
    return tried(options, around, batch, device);
}

}  // namespace ranklab::experiments
