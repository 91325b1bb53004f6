// Data parallelism over the GPUs of one process computes what one GPU and the CPU compute.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "device/gpus.hpp"
#include "measure/samples.hpp"
#include "train/replicas.hpp"
#include "train/torch_cuda.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

/// Convolutions, BatchNorm, linear layers; in double, so that wrong and rounded are far apart.
class Network final : public nn::Model {
  public:
    Network() {
        body_ = register_module(
            "body", torch::nn::Sequential(torch::nn::Conv2d(1, 8, 3), torch::nn::BatchNorm2d(8),
                                          torch::nn::ReLU(), torch::nn::Flatten(),
                                          torch::nn::Linear(8 * 6 * 6, 4)));
        to(torch::kDouble);
    }
    torch::Tensor forward(const torch::Tensor& images) override {
        return torch::log_softmax(body_->forward(images), 1);
    }

  private:
    torch::nn::Sequential body_{nullptr};
};

TensorBatch batch_on(torch::Device device) {
    torch::manual_seed(11);
    return {torch::randn({10, 1, 8, 8}, torch::kDouble).to(device),
            torch::arange(10).remainder(4).to(device)};
}

struct Result {
    std::vector<double> losses;
    std::vector<torch::Tensor> state;
    bool checked = false;
};

/// Five steps.
Result trained(const std::vector<torch::Device>& devices) {
    const auto make = [](torch::Device device) {
        torch::manual_seed(1);
        auto model = std::make_shared<Network>();
        model->to(device);
        return model;
    };
    const auto model = make(devices.front());
    const auto entries = optimizers();
    const auto sgd =
        std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.name == "sgd"; });
    const auto optimizer = sgd->make(model->parameters(), {.lr = 0.1, .momentum = 0.9});
    measure::PhaseRecorder recorder;
    DataParallel parallel(*model,
                          {.devices = devices, .make = make, .seed = 1, .threads = 1, .cores = {}},
                          *optimizer, recorder);
    const auto batch = batch_on(devices.front());
    Result result;
    result.checked = check_replicas(parallel, batch, Precision::fp64).passed;
    for (int step = 0; step < 5; ++step) result.losses.push_back(parallel.train_step(batch, 1.0));
    for (const auto& tensor : model->parameters()) result.state.push_back(tensor.detach().cpu());
    for (const auto& tensor : model->buffers()) result.state.push_back(tensor.detach().cpu());
    return result;
}

class OnGpus : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto list = device::list_gpus();
        if (list.gpus.empty()) GTEST_SKIP() << list.why_none;
        device::select_gpu(0);
        load_torch_cuda();
        if (!scope) scope = std::make_unique<device::ComputeStream>(compute_on_own_stream());
        gpus = static_cast<int>(list.gpus.size());
    }

    static void expect_as_the_cpu(int replicas) {
        std::vector<torch::Device> devices;
        for (int r = 0; r < replicas; ++r)
            devices.emplace_back(torch::kCUDA, static_cast<c10::DeviceIndex>(r));
        const auto on_gpus = trained(devices);
        const auto on_cpu = trained(std::vector<torch::Device>(devices.size(), torch::kCPU));
        EXPECT_TRUE(on_gpus.checked && on_cpu.checked);
        for (std::size_t step = 0; step < on_cpu.losses.size(); ++step)
            EXPECT_NEAR(on_gpus.losses[step], on_cpu.losses[step], 1e-9) << "step " << step;
        for (std::size_t i = 0; i < on_cpu.state.size(); ++i)
            EXPECT_TRUE(torch::allclose(on_gpus.state[i], on_cpu.state[i], 1e-8, 1e-10))
                << "tensor " << i;
    }

    static std::unique_ptr<device::ComputeStream> scope;
    int gpus = 0;
};
std::unique_ptr<device::ComputeStream> OnGpus::scope;

TEST_F(OnGpus, OneReplicaIsAsOnTheCpu) {
    expect_as_the_cpu(1);
}

TEST_F(OnGpus, ReplicasOnTwoGpusAreAsOnTheCpu) {
    if (gpus < 2) GTEST_SKIP() << "one GPU";
    expect_as_the_cpu(2);
}

TEST_F(OnGpus, ReplicasOnAllGpusAreAsOnTheCpu) {
    if (gpus < 3) GTEST_SKIP() << "two GPUs or fewer";
    expect_as_the_cpu(gpus);
}

TEST_F(OnGpus, TheMemoryMarkIsOfWhatTensorsTook) {
    const std::vector<torch::Device> first{{torch::kCUDA, 0}};
    // Before it there is no allocator.
    static_cast<void>(torch::zeros({1}, torch::Device(torch::kCUDA, 0)));
    restart_peak_gpu_bytes(first);
    const auto before = peak_gpu_bytes(first);
    static_cast<void>(torch::zeros({1 << 20}, torch::Device(torch::kCUDA, 0)));
    EXPECT_GE(peak_gpu_bytes(first), before + (4 << 20));
    restart_peak_gpu_bytes(first);
    EXPECT_EQ(peak_gpu_bytes(first), before);
}

}  // namespace
}  // namespace ranklab::train
