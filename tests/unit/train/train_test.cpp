// The whole room in one file: a file that includes LibTorch costs many seconds to compile.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "data/images.hpp"
#include "measure/samples.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

using Tensors = std::vector<torch::Tensor>;

OptimizerEntry optimizer_named(const std::string& name) {
    for (const auto& entry : optimizers()) {
        if (entry.name == name) return entry;
    }
    throw base::Error("the catalogue lacks " + name);
}

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
    return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
           std::memcmp(a.contiguous().const_data_ptr(), b.contiguous().const_data_ptr(),
                       a.nbytes()) == 0;
}

// ---- optimizers

// python3 -c " import torch p=torch.tensor([1.0,-2.0,0.5],dtype=torch.float64,requires_grad=True)
// o=torch.optim.Adadelta([p],lr=0.5)      # for the other table:
// torch.optim.SGD([p],lr=0.5,momentum=0.9) for k in (1,2,3):
//   p.grad=torch.tensor([0.1,-3.0,0.0],dtype=torch.float64)*k; o.step(); print(p.tolist())"
//   (PyTorch 2.11.0)
constexpr double kAdadelta[3][3] = {{0.9984196511468975, -1.9984188620483256, 0.5},
                                    {0.9964000567630641, -1.996398557749476, 0.5},
                                    {0.9939662545938682, -1.9939639600568457, 0.5}};
constexpr double kMomentumSgd[3][3] = {{0.95, -0.5, 0.5},
                                       {0.8049999999999999, 3.8499999999999996, 0.5},
                                       {0.5244999999999999, 12.264999999999999, 0.5}};

void expect_steps_of_python(const std::string& name, const OptimizerConfig& config,
                            const double (&expected)[3][3]) {
    const auto parameter = torch::tensor({1.0, -2.0, 0.5}, torch::kDouble).requires_grad_();
    const auto optimizer = optimizer_named(name).make({parameter}, config);
    for (int step = 0; step < 3; ++step) {
        parameter.mutable_grad() = torch::tensor({0.1, -3.0, 0.0}, torch::kDouble) * (step + 1);
        optimizer->step();
        for (int i = 0; i < 3; ++i) {
            EXPECT_NEAR(parameter.const_data_ptr<double>()[i], expected[step][i], 1e-14)
                << name << " step " << step;
        }
    }
}

TEST(Optimizers, MakePythonsSteps) {
    expect_steps_of_python("adadelta", {.lr = 0.5}, kAdadelta);
    expect_steps_of_python("sgd", {.lr = 0.5, .momentum = 0.9}, kMomentumSgd);
}

// Adadelta as the eight tensor operations of PyTorch's _single_tensor_adadelta.
struct PlainAdadelta {
    torch::Tensor parameter, v, u;
    explicit PlainAdadelta(const torch::Tensor& p)
        : parameter(p.detach().clone()),
          v(torch::zeros_like(parameter)),
          u(torch::zeros_like(parameter)) {}
    void step(const torch::Tensor& g, double lr) {
        v.mul_(0.9).addcmul_(g, g, 1 - 0.9);
        const auto delta = u.add(1e-6).sqrt_().div_(v.add(1e-6).sqrt_()).mul_(g);
        u.mul_(0.9).addcmul_(delta, delta, 1 - 0.9);
        parameter.add_(delta, -lr);
    }
};

// More elements than one thread takes, in two shapes, with a strided gradient and a falling
// learning rate.
void expect_the_tensor_formula(torch::Dtype dtype, double tolerance) {
    torch::manual_seed(5);
    at::set_num_threads(2);
    const Tensors parameters{torch::randn({300, 170}, dtype).requires_grad_(),
                             torch::randn({7}, dtype).requires_grad_()};
    std::vector<PlainAdadelta> plain(parameters.begin(), parameters.end());
    const auto optimizer = optimizer_named("adadelta").make(parameters, {.lr = 1.0});
    for (int step = 0; step < 6; ++step) {
        const double lr = std::pow(0.7, step / 2);
        optimizer->set_lr(lr);
        parameters[0].mutable_grad() = torch::randn({170, 300}, dtype).t();
        parameters[1].mutable_grad() = torch::randn({7}, dtype) * 100;
        for (std::size_t i = 0; i < 2; ++i) plain[i].step(parameters[i].grad(), lr);
        optimizer->step();
        for (std::size_t i = 0; i < 2; ++i) {
            const double worst =
                (parameters[i].detach() - plain[i].parameter).abs().max().item<double>();
            EXPECT_LE(worst, tolerance) << "parameter " << i << " after step " << step;
        }
    }
    at::set_num_threads(1);
}

TEST(Adadelta, EqualsTheTensorFormula) {
    expect_the_tensor_formula(torch::kDouble, 1e-13);
    expect_the_tensor_formula(torch::kFloat, 2e-6);
}

TEST(Adadelta, LeavesAParameterWithoutGradientAlone) {
    const auto used = torch::ones({3}).requires_grad_();
    const auto unused = torch::ones({3}).requires_grad_();
    const auto optimizer = optimizer_named("adadelta").make({unused, used}, {.lr = 1.0});
    used.mutable_grad() = torch::ones({3});
    optimizer->step();
    EXPECT_TRUE(torch::equal(unused.detach(), torch::ones({3})));
    EXPECT_FALSE(torch::equal(used.detach(), torch::ones({3})));
}

// ---- input

// torchvision's ToTensor (to the default type, / 255) and Normalize (- mean, / std as tensors of
// that type).
torch::Tensor to_tensor_and_normalize(const torch::Tensor& bytes, double mean, double std,
                                      torch::Dtype dtype) {
    return bytes.to(dtype)
        .div(255)
        .sub_(torch::full({1}, mean, dtype))
        .div_(torch::full({1}, std, dtype));
}

data::Batch batch_of_bytes(const std::vector<std::uint8_t>& pixels,
                           const std::vector<std::int64_t>& labels) {
    const auto memory = [](std::size_t bytes) {
        return std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>());
    };
    data::Batch batch{.count = static_cast<std::int64_t>(labels.size()),
                      .input = memory(pixels.size()),
                      .target = memory(labels.size() * sizeof(std::int64_t)),
                      .times = {}};
    std::ranges::copy(std::as_bytes(std::span(pixels)), batch.input.get());
    std::ranges::copy(std::as_bytes(std::span(labels)), batch.target.get());
    return batch;
}

data::SampleLayout images_of(std::vector<std::int64_t> sizes) {
    return {{data::Element::u8, std::move(sizes)}, {data::Element::i64, {}}};
}

TEST(InputConverter, IsToTensorAndNormalizeBitForBit) {
    std::vector<std::uint8_t> pixels;
    for (int byte = 0; byte < 256; ++byte) pixels.push_back(static_cast<std::uint8_t>(byte));
    const auto batch = batch_of_bytes(pixels, {3, 7});
    const auto bytes = torch::arange(256, torch::kByte).view({2, 2, 8, 8});
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        for (const auto& [mean, std] : {std::pair{0.1307, 0.3081}, {0.5, 0.25}, {0.0, 1.0}}) {
            const auto tensors = InputConverter(images_of({2, 8, 8}), {mean}, {std}, dtype)(batch);
            EXPECT_TRUE(same_bits(tensors.input, to_tensor_and_normalize(bytes, mean, std, dtype)))
                << mean << " " << std;
            EXPECT_TRUE(torch::equal(tensors.targets, torch::tensor({3, 7}, torch::kLong)));
        }
        const auto tensors =
            InputConverter(images_of({2, 8, 8}), {0.1, 0.5}, {0.3, 0.25}, dtype)(batch);
        EXPECT_TRUE(
            same_bits(tensors.input.select(1, 1).contiguous(),
                      to_tensor_and_normalize(bytes.select(1, 1).contiguous(), 0.5, 0.25, dtype)))
            << "each channel has its own";
    }
}

TEST(InputConverter, GivesFreshTensorsOfImagesAndTakesAnEmptyBatch) {
    const InputConverter convert(images_of({1, 1, 1}), {0}, {1}, torch::kFloat);
    const auto first = convert(batch_of_bytes({0, 255}, {0, 1}));
    const auto second = convert(batch_of_bytes({255, 0}, {0, 1}));
    EXPECT_EQ(first.input[0].item<float>(), 0.0F) << "autograd may still hold the first batch";
    EXPECT_EQ(second.input[0].item<float>(), 1.0F);
    const auto empty =
        InputConverter(images_of({1, 28, 28}), {0}, {1}, torch::kFloat)(batch_of_bytes({}, {}));
    EXPECT_EQ(empty.count(), 0);
    EXPECT_EQ(empty.input.sizes(), (std::vector<std::int64_t>{0, 1, 28, 28}));
}

TEST(InputConverter, TakesValuesWithoutACopy) {
    const data::SampleLayout layout{{data::Element::f32, {2, 1, 1, 1}},
                                    {data::Element::f32, {1, 1, 1, 1}}};
    data::Batch batch = batch_of_bytes(std::vector<std::uint8_t>(16), {0});
    const float values[] = {1, 2, 3, 4};
    std::memcpy(batch.input.get(), values, sizeof values);
    std::memcpy(batch.target.get(), values, 2 * sizeof(float));
    batch.count = 2;
    const auto tensors = InputConverter(layout, {0}, {1}, torch::kFloat)(batch);
    EXPECT_EQ(tensors.input.const_data_ptr(), batch.input.get());
    EXPECT_TRUE(torch::equal(tensors.input.flatten(), torch::tensor({1.F, 2.F, 3.F, 4.F})));
    EXPECT_TRUE(torch::equal(tensors.targets.flatten(), torch::tensor({1.F, 2.F})));
    const auto in_double = InputConverter(layout, {0}, {1}, torch::kDouble)(batch);
    EXPECT_EQ(in_double.input.scalar_type(), torch::kDouble);
}

// ---- trainer

/// One weight w; output w * image, loss mean(w * image). It notes in which mode it was called.
class ScaleModel final : public nn::Model {
  public:
    ScaleModel() { weight = register_parameter("weight", torch::ones({1}, torch::kDouble)); }
    torch::Tensor forward(const torch::Tensor& images) override {
        modes.push_back(is_training());
        return images.flatten(1) * weight;
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean();
    }

    torch::Tensor weight;
    std::vector<bool> modes;
};

class NotingSync final : public GradientSync {
  public:
    explicit NotingSync(std::vector<std::string>& notes) : notes_(notes) {}
    void attach(Tensors parameters) override { parameters_ = std::move(parameters); }
    void begin_step(const Tensors& outputs, bool sync) override {
        notes_.push_back(sync ? "begin" : "begin without sync");
        if (fresh_) drop_gradients(parameters_);
        fresh_ = false;
        outputs_ = outputs.size();
    }
    void finish() override {
        notes_.push_back("finish");
        define_gradients(parameters_);
        fresh_ = true;
    }
    const std::vector<ReductionStamp>& stamps() const override { return stamps_; }
    BucketPlan buckets() const override { return {}; }
    std::size_t outputs_ = 0;

  private:
    std::vector<std::string>& notes_;
    Tensors parameters_;
    std::vector<ReductionStamp> stamps_;
    bool fresh_ = true;
};

class NotingOptimizer final : public Optimizer {
  public:
    NotingOptimizer(std::vector<std::string>& notes, torch::Tensor parameter)
        : notes_(notes), parameter_(std::move(parameter)) {}
    void step() override {
        notes_.push_back("optimizer");
        gradient = parameter_.grad().item<double>();
    }
    void set_lr(double) override {}
    std::vector<OptimizerState> state() override { return {}; }
    void load_state(const std::vector<OptimizerState>&) override {}
    double gradient = NAN;

  private:
    std::vector<std::string>& notes_;
    torch::Tensor parameter_;
};

class NotingPhases final : public base::PhaseSink {
  public:
    explicit NotingPhases(std::vector<std::string>& notes) : notes_(notes) {}
    void enter(base::Phase phase) override {
        notes_.push_back("> " + std::string(base::kPhaseNames[static_cast<std::size_t>(phase)]));
    }
    void leave(base::Phase) override { notes_.push_back("<"); }

  private:
    std::vector<std::string>& notes_;
};

struct TrainerBench {
    std::vector<std::string> notes;
    ScaleModel model;
    NotingSync sync{notes};
    NotingOptimizer optimizer{notes, model.weight};
    NotingPhases phases{notes};
    Trainer trainer{model, sync, optimizer, phases};
};

TEST(Trainer, MakesAStepInMarkedPhases) {
    TrainerBench bench;
    const TensorBatch batch{torch::full({2, 1, 1, 1}, 3.0, torch::kDouble),
                            torch::zeros({2}, torch::kLong)};
    EXPECT_DOUBLE_EQ(bench.trainer.train_step(batch, 0.25), 3.0) << "the loss is not scaled";
    EXPECT_DOUBLE_EQ(bench.optimizer.gradient, 0.75)
        << "the gradient is weighted by the rank's share";
    EXPECT_EQ(bench.notes,
              (std::vector<std::string>{"> forward", "<", "> backward", "begin", "<", "> sync",
                                        "finish", "<", "> optimizer", "optimizer", "<"}));
    EXPECT_DOUBLE_EQ(bench.trainer.train_step(batch, 1.0), 3.0);
    EXPECT_DOUBLE_EQ(bench.optimizer.gradient, 3.0) << "and does not add to the last step's";
}

TEST(Trainer, AccumulatesMicroBatchesAndSyncsWithTheLast) {
    TrainerBench bench;
    const auto batch = [](double value) {
        return TensorBatch{torch::full({2, 1, 1, 1}, value, torch::kDouble),
                           torch::zeros({2}, torch::kLong)};
    };
    bench.trainer.accumulate(batch(3.0), 0.5, false);
    bench.trainer.accumulate(batch(5.0), 0.5, true);
    EXPECT_EQ(bench.sync.outputs_, 1U);
    bench.trainer.update();
    EXPECT_DOUBLE_EQ(bench.optimizer.gradient, 4.0);
    EXPECT_EQ(std::count(bench.notes.begin(), bench.notes.end(), "begin without sync"), 1);
    EXPECT_EQ(std::count(bench.notes.begin(), bench.notes.end(), "begin"), 1);
    EXPECT_EQ(std::count(bench.notes.begin(), bench.notes.end(), "optimizer"), 1);
}

TEST(Trainer, TakesPartWithAnEmptyBatch) {
    TrainerBench bench;
    const TensorBatch nothing{torch::empty({0, 1, 1, 1}, torch::kDouble),
                              torch::empty({0}, torch::kLong)};
    EXPECT_EQ(bench.trainer.train_step(nothing, 0.0), 0.0);
    EXPECT_TRUE(bench.model.modes.empty()) << "a mean over no samples is no number";
    EXPECT_EQ(bench.notes, (std::vector<std::string>{"> backward", "begin", "<", "> sync", "finish",
                                                     "<", "> optimizer", "optimizer", "<"}));
    EXPECT_EQ(bench.optimizer.gradient, 0.0);
}

TEST(Trainer, ThePhasesOfAStepAreWithinIt) {
    TrainerBench bench;
    measure::PhaseRecorder recorder;
    Trainer trainer(bench.model, bench.sync, bench.optimizer, recorder);
    recorder.begin_step();
    trainer.train_step(
        {torch::ones({64, 1, 100, 100}, torch::kDouble), torch::zeros({64}, torch::kLong)}, 1.0);
    recorder.end_step();
    const auto& step = recorder.last_step();
    double sum = 0;
    for (const double phase : step.phases) sum += phase;
    EXPECT_LE(sum, step.step);
    EXPECT_GT(step.phases[static_cast<std::size_t>(base::Phase::forward)], 0);
    EXPECT_GT(step.phases[static_cast<std::size_t>(base::Phase::backward)], 0);
}

/// Says that the class is what the image's first byte is; its loss is 2.5 on batches of 4 and 4 on
/// others.
class ByteModel final : public nn::Model {
  public:
    torch::Tensor forward(const torch::Tensor& images) override {
        modes.push_back(is_training());
        const auto classes =
            images.select(3, 0).select(2, 0).select(1, 0).mul(255).round().to(torch::kLong);
        return torch::one_hot(classes, 10).to(torch::kDouble);
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        EXPECT_FALSE(torch::GradMode::is_enabled());
        return torch::tensor(output.size(0) == 4 ? 2.5 : 4.0, torch::kDouble);
    }
    std::vector<bool> modes;
};

TEST(Evaluate, SumsOverItsPartOnly) {
    // 20 samples of 2 x 2; the first byte is the label, but for samples 3, 11, 12 and 19.
    data::ImageSet set{{1, 2, 2}, 10, std::vector<std::uint8_t>(80, 9), {}};
    for (std::uint8_t i = 0; i < 20; ++i) {
        set.labels.push_back(i % 5);
        const bool wrong = i == 3 || i == 11 || i == 12 || i == 19;
        set.images[i * 4U] = static_cast<std::uint8_t>(wrong ? 7 : i % 5);
    }
    ByteModel model;
    model.train();
    const auto source = data::image_source(set, set.shape);
    const InputConverter convert(source->layout(), {0}, {1}, torch::kDouble);
    const auto sums = evaluate(model, *source, {2, 11}, {.batch = 4}, convert);
    EXPECT_EQ(sums.count, 11);
    EXPECT_EQ(sums.correct, 8) << "3, 11 and 12 are wrong";
    EXPECT_DOUBLE_EQ(sums.loss, 8 * 2.5 + 3 * 4.0)
        << "the last batch has 3 samples and weighs as many";
    EXPECT_EQ(model.modes, (std::vector<bool>{false, false, false})) << "dropout is off";
    EXPECT_TRUE(model.is_training()) << "and on again";

    EXPECT_EQ(evaluate(model, *source, {5, 0}, {.batch = 4}, convert).count, 0);
    EXPECT_EQ(evaluate(model, *source, {0, 20}, {.batch = 100}, convert).correct, 16);
}

TEST(ParameterHash, SeesOneBit) {
    ScaleModel model;
    const auto before = hash_of(model.parameters());
    EXPECT_EQ(hash_of(model.parameters()), before);
    model.weight.mutable_data_ptr<double>()[0] = std::nextafter(1.0, 2.0);
    EXPECT_NE(hash_of(model.parameters()), before);
    model.weight.mutable_data_ptr<double>()[0] = 1.0;
    EXPECT_EQ(hash_of(model.parameters()), before);
}

}  // namespace
}  // namespace ranklab::train
