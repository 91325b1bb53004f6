// Data parallelism in one process: who gets which samples, what the threads do, and whether the
// gradient is that of the whole batch.
#include "train/replicas.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <torch/torch.h>

#include <atomic>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "measure/samples.hpp"
#include "nn/ops/ops.hpp"
#include "thrown_sentence.hpp"
#include "train/tensor_view.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

using Tensors = std::vector<torch::Tensor>;
using ranklab::tests::thrown_sentence;

// ---- chunks

std::vector<std::int64_t> sizes(std::int64_t count, std::size_t replicas) {
    std::vector<std::int64_t> sizes;
    for (const auto& part : chunks_of(count, replicas)) sizes.push_back(part.count);
    return sizes;
}

TEST(Chunks, AreThoseOfTorchChunk) {
    for (std::int64_t count = 1; count <= 20; ++count) {
        for (std::size_t replicas = 1; replicas <= 7; ++replicas) {
            const auto expected = torch::arange(count).chunk(static_cast<std::int64_t>(replicas));
            const auto parts = chunks_of(count, replicas);
            ASSERT_EQ(parts.size(), replicas);
            for (std::size_t r = 0; r < replicas; ++r) {
                const std::int64_t size = r < expected.size() ? expected[r].numel() : 0;
                EXPECT_EQ(parts[r].count, size) << count << " in " << replicas << ", part " << r;
                EXPECT_EQ(parts[r].first, r == 0 ? 0 : parts[r - 1].end());
            }
        }
    }
    EXPECT_EQ(sizes(4, 3), (std::vector<std::int64_t>{2, 2, 0}))
        << "as torch.chunk: the last one is idle";
    EXPECT_EQ(sizes(0, 2), (std::vector<std::int64_t>{0, 0}));
}

// ---- threads

using Cores = std::vector<std::vector<int>>;

TEST(ShareCores, DealsWholeNeighbouringCores) {
    const Cores four{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    EXPECT_EQ(share_cores(four, 1), (Cores{{0, 1, 2, 3, 4, 5, 6, 7}}));
    EXPECT_EQ(share_cores(four, 2), (Cores{{0, 1, 4, 5}, {2, 3, 6, 7}}));
    EXPECT_EQ(share_cores(four, 3), (Cores{{0, 4}, {1, 5}, {2, 3, 6, 7}}));
    EXPECT_EQ(share_cores(four, 4), four);
    EXPECT_EQ(share_cores(four, 5), Cores()) << "fewer cores than replicas: none is bound";
    EXPECT_EQ(share_cores({}, 1), Cores());
}

std::vector<int> cpus_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

Cores own_cpus() {
    Cores cores;
    for (const int cpu : cpus_of_this_thread()) cores.push_back({cpu});
    return cores;
}

/// The number that LibTorch computes with, after it has computed: that is when it might put in its
/// own.
int threads_in_use() {
    torch::ones({1 << 17}).add_(1);
    std::atomic<int> calls = 0;
    at::parallel_for(0, 1 << 10, 1, [&](std::int64_t, std::int64_t) { ++calls; });
    EXPECT_EQ(calls, at::get_num_threads());
    return at::get_num_threads();
}

TEST(ReplicaThreads, HaveTheirShareOfTheThreads) {
    at::set_num_threads(7);
    const std::pair<std::size_t, int> cases[] = {{1, 7}, {2, 3}, {3, 2}, {7, 1}, {9, 1}};
    for (const auto& [count, share] : cases) {
        ReplicaThreads threads(count, 7, {});
        EXPECT_EQ(threads.threads_each(), share);
        std::vector<int> seen(count, 0);
        for (int again = 0; again < 2; ++again) {
            threads.run([&](std::size_t replica) { seen[replica] = threads_in_use(); });
            EXPECT_EQ(seen, std::vector<int>(count, share)) << count << " replicas";
        }
        EXPECT_EQ(threads_in_use(), 7) << "the caller's are its own";
        int later = 0;
        std::thread([&] { later = threads_in_use(); }).join();
        EXPECT_EQ(later, 7) << "and so are those of threads to come";
    }
    at::set_num_threads(1);
}

TEST(ReplicaThreads, AreThreadsOfTheirOwnThatStay) {
    ReplicaThreads threads(3, 3, {});
    std::vector<std::thread::id> first(3), second(3);
    threads.run([&](std::size_t replica) { first[replica] = std::this_thread::get_id(); });
    threads.run([&](std::size_t replica) { second[replica] = std::this_thread::get_id(); });
    EXPECT_EQ(first, second);
    EXPECT_EQ(std::set(first.begin(), first.end()).size(), 3U);
    EXPECT_EQ(std::count(first.begin(), first.end(), std::this_thread::get_id()), 0);
}

TEST(ReplicaThreads, AreBoundToTheirShareOfTheCores) {
    const auto cores = own_cpus();
    const auto before = cpus_of_this_thread();
    for (const std::size_t count : {std::size_t{1}, cores.size()}) {
        ReplicaThreads threads(count, 2, cores);
        Cores seen(count);
        threads.run([&](std::size_t replica) { seen[replica] = cpus_of_this_thread(); });
        EXPECT_EQ(seen, share_cores(cores, count));
        EXPECT_EQ(threads.cpus(), seen);
        EXPECT_NE(threads.placement().find("replica 0 on CPUs "), std::string::npos)
            << threads.placement();
    }
    ReplicaThreads crowded(cores.size() + 1, 2, cores);
    crowded.run([&](std::size_t) { EXPECT_EQ(cpus_of_this_thread(), before); });
    EXPECT_TRUE(crowded.cpus().empty());
    EXPECT_NE(crowded.placement().find("not bound to cores; 1 thread each"), std::string::npos)
        << crowded.placement();
    EXPECT_EQ(cpus_of_this_thread(), before) << "the caller stays where it was";
}

TEST(ReplicaThreads, HandTheLowestReplicasErrorToTheCaller) {
    ReplicaThreads threads(4, 1, {});
    std::atomic<int> calls = 0;
    const auto fail_from_2 = [&](std::size_t replica) {
        ++calls;
        if (replica >= 2) throw base::DataError("sample " + std::to_string(replica) + " is bad");
    };
    for (int again = 1; again <= 3; ++again) {
        EXPECT_EQ(thrown_sentence<base::DataError>([&] { threads.run(fail_from_2); }),
                  "replica 2: sample 2 is bad");
        EXPECT_EQ(calls, 4 * again) << "the others were waited for";
    }
    EXPECT_THROW(threads.run([](std::size_t replica) {
        if (replica == 3) TORCH_CHECK(false, "shapes");
    }),
                 c10::Error);
    int done = 0;
    std::mutex mutex;
    threads.run([&](std::size_t) {
        const std::lock_guard lock(mutex);
        ++done;
    });
    EXPECT_EQ(done, 4) << "and they go on";
}

// ---- the sum of gradients

TEST(SumGradients, AddsInTheOrderOfReplicasWhateverTheStrides) {
    torch::manual_seed(3);
    // Several blocks, one element, channels-last; a gradient that one or no replica has.
    const std::vector<std::vector<std::int64_t>> shapes{{70000}, {1},  {3, 5, 7, 2},
                                                        {11},    {13}, {4, 6}};
    std::vector<Tensors> parameters(3);
    for (std::size_t r = 0; r < 3; ++r) {
        for (const auto& shape : shapes)
            parameters[r].push_back(torch::zeros(shape).requires_grad_());
        for (auto& parameter : parameters[r])
            parameter.mutable_grad() = torch::randn_like(parameter);
        parameters[r][2] = torch::zeros({3, 5, 7, 2})
                               .contiguous(torch::MemoryFormat::ChannelsLast)
                               .requires_grad_();
        parameters[r][2].mutable_grad() =
            torch::randn({3, 5, 7, 2}).contiguous(torch::MemoryFormat::ChannelsLast);
        if (r != 1) parameters[r][3].mutable_grad().reset();
        parameters[r][4].mutable_grad().reset();
    }
    parameters[2][5].mutable_grad() = torch::randn({6, 4}).t();
    Tensors expected;
    for (const std::size_t i : {0, 1, 2, 5})
        expected.push_back(parameters[0][i].grad() + parameters[1][i].grad() +
                           parameters[2][i].grad());
    sum_gradients(parameters);
    std::size_t k = 0;
    for (const std::size_t i : {0, 1, 2, 5})
        EXPECT_TRUE(torch::equal(parameters[0][i].grad(), expected[k++])) << "parameter " << i;
    EXPECT_TRUE(torch::equal(parameters[0][3].grad(), parameters[1][3].grad()))
        << "one replica's alone";
    EXPECT_FALSE(parameters[0][4].grad().defined()) << "no replica's";
}

// ---- steps

/// Two layers with dropout and a running mean of what goes in; small enough for a look at each
/// number.
class SmallModel final : public nn::Model {
  public:
    explicit SmallModel(double p = 0.5) : p_(p) {
        hidden_ = register_module("hidden", torch::nn::Linear(6, 9));
        out_ = register_module("out", torch::nn::Linear(9, 4));
        mean_ = register_buffer("mean", torch::zeros({1}));
        to(torch::kDouble);
    }
    torch::Tensor forward(const torch::Tensor& images) override {
        if (images.size(0) == fails_on_) throw base::DataError("this many images are too many");
        if (is_training()) mean_.mul_(0.5).add_(images.detach().mean(), 0.5);
        auto x = torch::tanh(hidden_->forward(images.flatten(1)));
        x = nn::fast_dropout(x, p_, is_training());
        return torch::log_softmax(out_->forward(x) + unregistered, 1);
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return torch::nll_loss(output, targets);
    }
    void fail_on(std::int64_t count) { fails_on_ = count; }
    double mean() const { return mean_.item<double>(); }

    // No copy of it is made in replicate.
    torch::Tensor unregistered = torch::zeros({4}, torch::kDouble);

  private:
    double p_;
    std::int64_t fails_on_ = -1;
    torch::nn::Linear hidden_{nullptr};
    torch::nn::Linear out_{nullptr};
    torch::Tensor mean_;
};

TensorBatch batch_of(std::int64_t count, std::uint64_t seed = 5) {
    auto generator = at::detail::createCPUGenerator(seed);
    return {torch::randn({count, 1, 2, 3}, generator, torch::kDouble),
            torch::arange(count).remainder(4)};
}

std::unique_ptr<Optimizer> sgd(const nn::Model& model, double lr = 0.1) {
    for (const auto& entry : optimizers()) {
        if (entry.name == "sgd") return entry.make(model.parameters(), {.lr = lr});
    }
    throw base::Error("the catalogue lacks sgd");
}

Tensors gradients_of(const nn::Model& model) {
    Tensors gradients;
    for (const auto& parameter : model.parameters()) gradients.push_back(parameter.grad().clone());
    return gradients;
}

double apart(const Tensors& a, const Tensors& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, (a[i] - b[i]).abs().max().item<double>());
    return worst;
}

/// A model and its replicas, as one seed makes them.
struct Bench {
    explicit Bench(std::size_t replicas, double p = 0.5, int threads = 1, bool coalesces = false)
        : model((torch::manual_seed(1), std::make_shared<SmallModel>(p))),
          optimizer(sgd(*model)),
          parallel(*model,
                   {.devices = std::vector<torch::Device>(replicas, torch::kCPU),
                    .make = [p](torch::Device) { return std::make_shared<SmallModel>(p); },
                    .seed = 1,
                    .threads = threads,
                    .cores = {},
                    .coalesces = coalesces},
                   *optimizer, recorder) {}
    SmallModel& replica(std::size_t r) { return dynamic_cast<SmallModel&>(parallel.model(r)); }

    std::shared_ptr<SmallModel> model;
    std::unique_ptr<Optimizer> optimizer;
    measure::PhaseRecorder recorder;
    DataParallel parallel;
};

TEST(DataParallel, GivesTheGradientOfTheWholeBatch) {
    for (const std::size_t replicas : {1, 2, 3, 5}) {
        for (const std::int64_t count : {1, 2, 3, 4, 7, 12}) {  // odd sizes, and idle replicas
            Bench bench(replicas, 0);
            const auto batch = batch_of(count);
            const auto loss = bench.model->loss(bench.model->forward(batch.input), batch.targets);
            (loss * 0.25).backward();
            const auto whole = gradients_of(*bench.model);
            EXPECT_NEAR(bench.parallel.compute_gradient(batch, 0.25), loss.item<double>(), 1e-14)
                << "the loss is not scaled";
            EXPECT_LE(apart(gradients_of(*bench.model), whole), 1e-15)
                << count << " on " << replicas;
            bench.parallel.compute_gradient(batch, 0.25);
            EXPECT_LE(apart(gradients_of(*bench.model), whole), 1e-15)
                << "it adds to the last step's";
        }
    }
}

TEST(DataParallel, TakesAnEmptyBatch) {
    Bench bench(2);
    bench.parallel.train_step(batch_of(4), 1.0);
    const auto before = hash_of(bench.model->parameters());
    EXPECT_EQ(bench.parallel.train_step(batch_of(0), 0.0), 0.0);
    EXPECT_EQ(hash_of(bench.model->parameters()), before)
        << "the gradient of the step before is used again";
}

TEST(DataParallel, ReplicatesInEveryStep) {
    Bench bench(3);
    for (int step = 0; step < 3; ++step) {
        Tensors before;
        for (const auto& parameter : bench.model->parameters())
            before.push_back(parameter.detach().clone());
        bench.parallel.train_step(batch_of(6), 1.0);
        for (std::size_t r = 1; r < 3; ++r)
            EXPECT_EQ(apart(bench.parallel.model(r).parameters(), before), 0) << "step " << step;
        EXPECT_GT(apart(bench.model->parameters(), before), 0) << "and replica 0 has trained";
    }
    bench.model->eval();
    bench.parallel.compute_gradient(batch_of(6), 1.0);
    EXPECT_FALSE(bench.parallel.model(2).is_training());
}

TEST(DataParallel, KeepsTheRunningStatisticsOfReplicaZero) {
    Bench bench(2);
    const auto batch = batch_of(6);
    const auto mean_of = [&](std::int64_t begin) {
        return batch.input.narrow(0, begin, 3).mean().item<double>();
    };
    bench.parallel.train_step(batch, 1.0);
    EXPECT_NEAR(bench.model->mean(), 0.5 * mean_of(0), 1e-15);
    EXPECT_NEAR(bench.replica(1).mean(), 0.5 * mean_of(3), 1e-15);
    bench.parallel.train_step(batch, 1.0);
    EXPECT_NEAR(bench.model->mean(), 0.75 * mean_of(0), 1e-15);
    EXPECT_NEAR(bench.replica(1).mean(), 0.25 * mean_of(0) + 0.5 * mean_of(3), 1e-15)
        << "from replica 0's";
}

// Tensors that are sent between GPUs in few pieces: here within one memory, with the same bits.
TEST(DataParallel, ComputesTheSameWhereWhatTravelsIsCoalesced) {
    for (const std::size_t replicas : {1, 2, 3}) {
        Bench shared(replicas, 0.5, 1, false);
        std::vector<double> losses;
        for (std::uint64_t step = 0; step < 5; ++step)
            losses.push_back(shared.parallel.train_step(batch_of(7, step), 1.0));
        const auto mean = shared.replica(replicas - 1).mean();
        Bench coalesced(replicas, 0.5, 1, true);
        for (std::uint64_t step = 0; step < 5; ++step)
            EXPECT_EQ(coalesced.parallel.train_step(batch_of(7, step), 1.0), losses[step]);
        EXPECT_EQ(hash_of(coalesced.model->parameters()), hash_of(shared.model->parameters()));
        EXPECT_EQ(coalesced.replica(replicas - 1).mean(), mean) << "buffers are replicated, too";
    }
}

std::vector<double> losses_with_dropout(std::size_t replicas, int threads, std::uint64_t& hash) {
    Bench bench(replicas, 0.5, threads);
    std::vector<double> losses;
    for (std::uint64_t step = 0; step < 10; ++step)
        losses.push_back(bench.parallel.train_step(batch_of(10, step), 1.0));
    hash = hash_of(bench.model->parameters());
    return losses;
}

TEST(DataParallel, DropsTheSameInEveryRun) {
    std::uint64_t hash = 0;
    const auto losses = losses_with_dropout(3, 3, hash);
    for (int again = 0; again < 20; ++again) {
        std::uint64_t other = 0;
        EXPECT_EQ(losses_with_dropout(3, 3, other), losses);
        EXPECT_EQ(other, hash);
    }
}

// Rank r of ddp is seeded with seed + r once the model is made; rank 0 goes on with the model's
// stream.
TEST(DataParallel, DrawsWhatTheRanksOfDdpWouldDraw) {
    Bench bench(3);
    const auto batch = batch_of(8);  // 3, 3 and 2
    const double loss = bench.parallel.compute_gradient(batch, 1.0);
    const auto after = torch::rand({1}).item<float>();

    torch::manual_seed(1);
    SmallModel alone;
    double expected = 0;
    float continued = 0;
    for (std::int64_t rank = 0; rank < 3; ++rank) {
        if (rank > 0) torch::manual_seed(1 + static_cast<std::uint64_t>(rank));
        const std::int64_t count = rank < 2 ? 3 : 2;
        const auto output = alone.forward(batch.input.narrow(0, 3 * rank, count));
        expected += alone.loss(output, batch.targets.narrow(0, 3 * rank, count)).item<double>() *
                    static_cast<double>(count) / 8;
        if (rank == 0) continued = torch::rand({1}).item<float>();
    }
    EXPECT_NEAR(loss, expected, 1e-14);
    EXPECT_EQ(after, continued) << "the default generator is replica 0's alone";
}

TEST(DataParallel, AnErrorInAReplicaReachesTheCaller) {
    Bench bench(3, 0);
    bench.replica(2).fail_on(2);
    EXPECT_EQ(
        thrown_sentence<base::DataError>([&] { bench.parallel.train_step(batch_of(8), 1.0); }),
        "replica 2: this many images are too many");
    bench.replica(2).fail_on(-1);
    Bench fresh(3, 0);
    EXPECT_EQ(bench.parallel.train_step(batch_of(8), 1.0),
              fresh.parallel.train_step(batch_of(8), 1.0))
        << "the next step is as if nothing had been";
}

TEST(DataParallel, MarksItsPhasesWithinTheStep) {
    Bench bench(2);
    bench.recorder.begin_step();
    bench.parallel.train_step(batch_of(8), 1.0);
    bench.recorder.end_step();
    const auto& step = bench.recorder.last_step();
    const auto time = [&](base::Phase phase) {
        return step.phases[static_cast<std::size_t>(phase)];
    };
    double sum = 0;
    for (const auto phase : bench.parallel.phases()) {
        EXPECT_GT(time(phase), 0) << base::kPhaseNames[static_cast<std::size_t>(phase)];
        sum += time(phase);
    }
    EXPECT_LE(sum, step.step);
    EXPECT_EQ(time(base::Phase::sync), 0);
}

// ---- the check

TEST(CheckReplicas, PassesAndLeavesEverythingAsItWas) {
    for (const std::size_t replicas : {1, 2, 3}) {
        Bench bench(replicas);
        Bench unchecked(replicas);
        torch::manual_seed(9);
        const auto check = check_replicas(bench.parallel, batch_of(7));
        EXPECT_TRUE(check.passed) << check.detail;
        EXPECT_NE(check.detail.find("allowed 2.2e-13"), std::string::npos) << check.detail;
        EXPECT_EQ(hash_of(bench.model->parameters()), hash_of(unchecked.model->parameters()))
            << "buffers too";
        for (const auto& parameter : bench.model->parameters())
            EXPECT_FALSE(parameter.grad().defined());
        const double loss = bench.parallel.train_step(batch_of(7), 1.0);
        torch::manual_seed(9);
        EXPECT_EQ(loss, unchecked.parallel.train_step(batch_of(7), 1.0))
            << "the same random numbers";
    }
}

TEST(CheckReplicas, SeesASpoiltReplica) {
    for (const std::size_t spoilt : {1, 2}) {
        Bench bench(3);
        bench.replica(spoilt).unregistered[1] += 0.01;
        const auto check = check_replicas(bench.parallel, batch_of(9));
        EXPECT_FALSE(check.passed);
        EXPECT_NE(check.detail.find("gradient of 3 replicas"), std::string::npos) << check.detail;
    }
    Bench bench(2);
    bench.replica(1).unregistered[0] = NAN;
    EXPECT_FALSE(check_replicas(bench.parallel, batch_of(9)).passed) << "not a number is not equal";
}

}  // namespace
}  // namespace ranklab::train
