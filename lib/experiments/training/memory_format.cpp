#include "experiments/training/memory_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/model_of.hpp"
#include "stats/summary.hpp"
#include "train/precision.hpp"
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

// A format that is to be worth another layout has to gain more than what two runs of one differ by.
constexpr double kMargin = 1.05;
constexpr const char* kAuto = "auto";
constexpr const char* kContiguous = "contiguous";
constexpr const char* kChannelsLast = "channels-last";

constexpr const char* kBroken =
    "LibTorch's channels-last convolutions of 1 x 1 and fewer than 8 channels write beyond their memory";

const char* name_of(bool channels_last) {
    return channels_last ? kChannelsLast : kContiguous;
}

double median_of(const std::vector<FormatRound>& rounds, double FormatRound::*side) {
    std::vector<double> times;
    for (const auto& round : rounds) times.push_back(round.*side);
    return stats::quantile(times, 0.5);
}

// Why there is nothing to try; "" where there is.
std::string why_contiguous(const FormatFacts& facts) {
    if (!facts.computes) return "nothing is computed";
    if (!facts.convolves) return "the model has no convolutions";
    if (facts.breaks) return kBroken;
    if (facts.cuda_graph) return "nothing is tried beside a recorded graph";
    return {};
}

// A model, and a batch of random numbers, for steps of forward and backward.
class Trial {
  public:
    Trial(const TrainingOptions& options, std::int64_t count, torch::Device device) {
        SpeedOptions speed = options.speed;
        speed.jit = false;  // another graph a format would cost more than it tells
        model_ = prepared(make_model(options), speed, device, options.settings.model);
        const auto batch = random_batch(options, count, speed.parameter_type());
        batch_ = {batch.input.to(device), batch.targets.to(device)};
    }

    double step_s(bool channels_last) {
        train::use_channels_last(*model_, channels_last);
        model_->zero_grad();
        const auto start = base::Clock::now();
        const auto output =
            model_->forward(channels_last ? train::channels_last(batch_.input) : batch_.input);
        const auto loss = model_->loss(output, batch_.targets);
        loss.backward();
        static_cast<void>(loss.item<double>());  // waits for a device
        return base::seconds_since(start);
    }

  private:
    std::shared_ptr<nn::Model> model_;
    train::TensorBatch batch_;
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

}  // namespace

FormatChoice settle_format(vocabulary::TrainingSettings& settings, const FormatFacts& facts) {
    if (settings.channels_last == "true") settings.memory_format = kChannelsLast;
    FormatChoice choice{.asked = settings.memory_format, .why = "it was asked for"};
    if (choice.asked == kAuto) {
        choice.why = why_contiguous(facts);
        choice.open = choice.why.empty();
    }
    choice.channels_last = choice.asked == kChannelsLast;
    if (choice.channels_last && facts.breaks)
        throw base::OptionError(fmt::format("{}; use a wider model, or contiguous memory", kBroken),
                                {"width", "memory-format"});
    settings.channels_last = choice.open            ? "auto: decided before the warm-up"
                             : choice.channels_last ? "true"
                                                    : "false";
    return choice;
}

FormatChoice chosen_by(std::vector<FormatRound> rounds) {
    const double contiguous = median_of(rounds, &FormatRound::contiguous);
    const double channels_last = median_of(rounds, &FormatRound::channels_last);
    const double gain = contiguous / channels_last;
    const bool always = std::all_of(rounds.begin(), rounds.end(),
                                    [](const auto& round) { return round.channels_last < round.contiguous; });
    const auto times =
        fmt::format("{:.3g} against {:.3g} ms a step of forward and backward, {} round{}",
                    1e3 * channels_last, 1e3 * contiguous, rounds.size(), rounds.size() == 1 ? "" : "s");
    FormatChoice choice;
    choice.asked = kAuto;
    choice.channels_last = always && gain > kMargin;
    choice.why = choice.channels_last || gain < 1 / kMargin
                     ? fmt::format("channels-last is {:.2f} x as fast ({})", gain, times)
                     : fmt::format("channels-last is not surely faster ({})", times);
    choice.rounds = std::move(rounds);
    return choice;
}

FormatChoice try_formats(const std::function<double(bool)>& step, double longest) {
    constexpr std::size_t kRounds = 5;
    std::vector<FormatRound> rounds;
    double spent = 0;
    for (std::size_t round = 0; round <= kRounds && spent <= longest / 6; ++round) {
        FormatRound times;
        for (const bool channels_last : {round % 2 != 0, round % 2 == 0}) {
            const double seconds = step(channels_last);
            (channels_last ? times.channels_last : times.contiguous) = seconds;
            spent += seconds;
            if (rounds.empty() && !channels_last && seconds > longest)
                return {.asked = kAuto,
                        .why = fmt::format("a step takes {:.3g} s, too long to try another", seconds)};
        }
        if (round == 1) rounds.clear();  // what warmed up
        rounds.push_back(times);
    }
    return chosen_by(std::move(rounds));
}

FormatChoice trial_choice(const TrainingOptions& options, const RunContext& around, std::int64_t samples,
                          torch::Device device) {
    // No step has more than a rank's share of the data.
    const std::int64_t ranks = around.control.world_size();
    const auto batch = std::min(*options.settings.batch_size, (samples + ranks - 1) / ranks);
    const auto start = base::Clock::now();
    auto choice = try_both(options, around, batch, device);
    if (!device.is_cpu()) train::empty_cuda_cache();
    choice.trial_s = base::seconds_since(start);
    return choice;
}

void add_format(results::Run& run, const FormatChoice& choice) {
    const auto fact = [&run](const char* key, const std::string& value) {
        run.context.push_back({"memory_format", key, value});
    };
    fact("asked", choice.asked);
    fact("taken", name_of(choice.channels_last));
    fact("why", choice.why);
    if (choice.rounds.empty()) return;
    fact("trial_rounds", fmt::format("{}", choice.rounds.size()));
    fact("trial_contiguous_s", fmt::format("{:.6g}", median_of(choice.rounds, &FormatRound::contiguous)));
    fact("trial_channels_last_s",
         fmt::format("{:.6g}", median_of(choice.rounds, &FormatRound::channels_last)));
}

}  // namespace ranklab::experiments
