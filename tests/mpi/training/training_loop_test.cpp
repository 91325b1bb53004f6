// The outcome of a training run when its replicas do not compute what one model computes.
#include "experiments/training/observer.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <csignal>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "experiments/training/ablation.hpp"
#include "mpi_world.hpp"
#include "quiet_progress.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;

/// Softmax regression with a weight that it does not register, so that no replica is given the
/// model's.
class ForgetfulModel final : public nn::Model {
  public:
    explicit ForgetfulModel(double forgotten) : forgotten_(forgotten) {
        linear_ = register_module("linear", torch::nn::Linear(4, 3));
    }
    torch::Tensor forward(const torch::Tensor& images) override {
        return torch::log_softmax(linear_->forward(images.flatten(1)) * forgotten_, 1);
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return torch::nll_loss(output, targets);
    }

  private:
    double forgotten_;
    torch::nn::Linear linear_{nullptr};
};

auto images_of(const data::SourceEntry& source) {
    return source.open({.input = {1, 2, 2},
                        .target = {},
                        .classes = 3,
                        .directory = "",
                        .train_samples = 36,
                        .test_samples = 12},
                       world());
}

TrainingOptions options_of(const std::string& mode, const std::string& evaluate) {
    options::Schema schema = training_schema();
    const auto parsed = options::Options::parse(
        schema.append(vocabulary::common_settings()),
        {"--mode", mode, "--sync", "none", "--optimizer", "sgd", "--momentum", "0", "--evaluate",
         evaluate, "--batch-size", "6", "--eval-batch-size", "1000", "--overlap-steps", "0",
         "--replicas", "2"});
    TrainingOptions options;
    options.settings = parsed.fields<vocabulary::TrainingSettings>();
    options.common = parsed.fields<vocabulary::CommonSettings>();
    options.rate.lr = 0.1;
    return options;
}

/// Calls `work` with a run of two replicas, of which the second has `forgotten` where the model has
/// 1.
template <class Work>
void with_run(const TrainingOptions& options, base::ProgressSink& progress, double forgotten,
              Work work) {
    const auto source = entry_of(data::sources(), "synthetic");
    const auto data = images_of(source);
    const data::Sampler sampler({.samples = 36, .batch = 6});
    const auto schedule = measure::schedule_steps(6, 0, 6);
    ForgetfulModel model(1);
    TrainingSteps steps(
        {.options = options,
         .data = data,
         .source = source,
         .sampler = sampler,
         .steps_per_epoch = schedule.steps_per_epoch,
         .control = world(),
         .data_plane = world(),
         .make_model =
             [forgotten](torch::Device) { return std::make_shared<ForgetfulModel>(forgotten); }},
        model);
    const RunContext around{.control = world(), .progress = progress};
    ObservedRun observed{.options = options,
                         .schedule = schedule,
                         .data = data,
                         .model = model,
                         .steps = steps,
                         .around = around};
    TrainingLoop loop(observed);
    work(observed, loop);
}

/// Six steps.
results::Run train_with(double forgotten) {
    testing::QuietProgress silent;
    results::Run run;
    with_run(options_of("dp", "end"), silent, forgotten, [&](ObservedRun&, TrainingLoop& loop) {
        loop.run();
        loop.end();
        loop.fill(run);
    });
    return run;
}

std::string result_of_check(const results::Run& run) {
    const auto& columns = run.find_table("verification")->columns;
    const auto& checks = std::get<std::vector<std::string>>(columns[0].values);
    for (std::size_t i = 0; i < checks.size(); ++i) {
        if (checks[i] == "replicas' gradient equals one model's")
            return std::get<std::vector<std::string>>(columns[1].values)[i];
    }
    return "not there";
}

TEST(TrainingLoop, TrainsWithGoodReplicas) {
    const auto run = train_with(1);
    EXPECT_TRUE(run.valid);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(result_of_check(run), "passed");
    EXPECT_EQ(run.find("step_time_s")->summary.n, 6U);
}

TEST(TrainingLoop, EndsBeforeTheFirstStepWithASpoiltReplica) {
    const auto run = train_with(1.01);
    EXPECT_FALSE(run.valid);
    EXPECT_EQ(run.exit_code, static_cast<int>(base::ExitCode::wrong_data));
    EXPECT_EQ(result_of_check(run), "failed");
    ASSERT_FALSE(run.warnings.empty());
    EXPECT_EQ(run.find("step_time_s")->summary.n, 0U) << "what is wrong is not timed";
    EXPECT_EQ(run.find("throughput_samples_per_s"), nullptr);
    EXPECT_EQ(run.find("time_to_first_step_s"), nullptr);
}

/// Tells the process to stop when the last trial of the first counted round begins: one rank makes
/// three kinds.
class StopsInTheLastTrial final : public base::ProgressSink {
  public:
    void activity(std::string_view what) override {
        if (what.starts_with("ablation: round 1") && ++trials_ == 3) std::raise(SIGTERM);
    }
    void update(std::int64_t, std::int64_t, double, std::string_view, std::string_view) override {}
    void finish() override {}

  private:
    int trials_ = 0;
};

/// The kinds of trials that are kept of a round that is stopped in its last trial.
std::size_t trials_kept(std::int64_t steps_of_a_trial) {
    auto options = options_of("single", "off");
    options.settings.ablation = true;
    options.settings.steps = steps_of_a_trial;
    options.settings.repetitions = 5;
    StopsInTheLastTrial progress;
    const base::StopSignals signals;
    std::size_t kept = 0;
    with_run(options, progress, 1, [&](ObservedRun& observed, TrainingLoop&) {
        kept = make_trials(observed).size();
        EXPECT_EQ(observed.end.signal(), SIGTERM);
    });
    base::StopSignals::acknowledge();
    return kept;
}

/// A short run of a small network.
results::Run make_short_run(const std::vector<std::string>& more) {
    options::Schema schema = training_schema();
    auto words = base::split(
        "--data synthetic --train-samples 16 --width 4 --batch-size 4 --steps 40 --warmup 0 "
        "--workers 0 --evaluate off --overlap-steps 0 --device cpu --threads 1",
        ' ');
    words.insert(words.end(), more.begin(), more.end());
    const auto given = options::Options::parse(schema.append(vocabulary::common_settings()), words);
    testing::QuietProgress silent;
    return make_training_run(settle_training(given, given.fields<vocabulary::CommonSettings>(), 1),
                             {.control = world(), .progress = silent});
}

TEST(TrainingRun, IsMadeOrRefused) {
    EXPECT_NO_THROW(make_short_run({}));
    const std::vector<std::vector<std::string>> refused{
        {"--batch-size", "17"},
        {"--save-parameters", "/no/such/folder/file.h5"},
        {"--checkpoint", "/dev/null/folder"},
        {"--gamma", "1e6", "--lr", "1e15"}};
    for (const auto& words : refused)
        EXPECT_THROW(make_short_run(words), base::Error) << words.front();
}

TEST(Ablation, ARoundThatIsWholeIsKeptWhereAStopIsHeardInItsLastStep) {
    EXPECT_EQ(trials_kept(1), 3U);
}

TEST(Ablation, ARoundThatIsNotWholeIsNotKept) {
    EXPECT_EQ(trials_kept(1000), 0U);
}

}  // namespace
}  // namespace ranklab::experiments
