#include "experiments/training/format_trial.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "experiments/training/model_of.hpp"
#include "train/channels_last.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::size_t kFewestRounds = 2;
constexpr std::size_t kMostRounds = 5;
constexpr double kEnoughSeconds = 3;  // of timed steps

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
        model_ = prepared(make_model(options), speed, device, options.text("model"));
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

// In turns, so that a machine that slows down slows both; the first round warms up.
FormatChoice try_both(const TrainingOptions& options, const Surroundings& around, std::int64_t batch,
                      torch::Device device) {
    Trial trial(options, batch, device);
    std::vector<FormatRound> rounds;
    double spent = 0;
    const auto enough = [&] { return rounds.size() >= kFewestRounds && spent > kEnoughSeconds; };
    for (std::size_t round = 0; round <= kMostRounds && !enough(); ++round) {
        around.progress.activity("trying both memory formats");
        stop_if_asked(around.control, "before the first step; nothing was measured");
        std::array<double, 2> times{};
        for (const bool channels_last : {round % 2 != 0, round % 2 == 0})
            times[channels_last ? 1 : 0] = trial.step_s(channels_last);
        around.control.allreduce(comm::view(std::span(times)), comm::ReduceOp::max);
        if (round == 0) continue;
        rounds.push_back({times[0], times[1]});
        spent += times[0] + times[1];
    }
    return chosen_by(std::move(rounds));
}

// What the run took that this one goes on from: "true", "false", or "" where there is none.
std::string of_checkpoint(const TrainingOptions& options, comm::Communicator& control) {
    std::string value;
    if (!options.flag("resume")) return value;
    comm::together(control, [&] {
        if (control.rank() != 0) return;
        const CheckpointFile file(options.text("checkpoint"));
        try {
            const auto bytes = file.read();
            if (!bytes) return;
            for (const auto& [name, stored] : decode(*bytes).settings)
                if (name == "--channels-last") value = stored;
        } catch (base::Error& error) {
            error.add_context(file.path().string());
            throw;
        }
    });
    return comm::broadcast_text(control, value, 0);
}

FormatChoice decide(const TrainingOptions& options, const Surroundings& around, std::int64_t samples,
                    torch::Device device, FormatTrials& trials) {
    const auto stored = of_checkpoint(options, around.control);
    if (!stored.empty())
        return {.asked = options.format.asked,
                .channels_last = stored == "true",
                .why = "the run of the checkpoint took it"};
    // No step has more than a rank's share of the data.
    const std::int64_t ranks = around.control.world_size();
    const auto batch = std::min(options.integer("batch-size"), (samples + ranks - 1) / ranks);
    const auto known = trials.find(batch);
    if (known != trials.end()) return known->second;
    return trials[batch] = try_both(options, around, batch, device);
}

}  // namespace

void take_format(TrainingOptions& options, const Surroundings& around, std::int64_t samples,
                 torch::Device device, FormatTrials& trials) {
    if (!options.format.open) return;
    options.format = decide(options, around, samples, device, trials);
    options.speed.channels_last = options.format.channels_last;
    around.options.resolve("channels-last", options.format.channels_last ? "true" : "false");
}

}  // namespace ranklab::experiments
