// Step times of one network with several gradient syncs, in random order within one process:
// differences that the noise between separate runs would hide.
//   mpirun -n 2 build/release/bench/sync_pairs_bench [model] [batch] [rounds]
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "comm/mpi_environment.hpp"
#include "comm/silent.hpp"
#include "nn/model.hpp"
#include "stats/summary.hpp"
#include "train/trainer.hpp"

using namespace ranklab;

namespace {

class NoPhases final : public base::PhaseSink {
    void enter(base::Phase) override {}
    void leave(base::Phase) override {}
};

template <class Entry>
Entry named(const std::vector<Entry>& catalogue, const std::string& name) {
    return *std::find_if(catalogue.begin(), catalogue.end(),
                         [&](const auto& entry) { return entry.name == name; });
}

struct Variant {
    std::string name;
    std::string sync;
    train::Progress progress = train::Progress::none;
    train::Transfer transfer = train::Transfer::blocking;
    bool silent = false;
};

// One network with its own parameters, gradients and strategy.
struct Candidate {
    Candidate(const Variant& variant, const std::string& model_name, comm::Communicator& control)
        : name(variant.name), data(control) {
        torch::manual_seed(1);
        const auto entry = named(nn::models(), model_name);
        model = entry.make({.input = entry.input, .dropout = false});
        model->train();
        data.silence(variant.silent);
        sync = named(train::gradient_syncs(), variant.sync)
                   .make({.data = data,
                          .control = control,
                          .progress = variant.progress,
                          .transfer = variant.transfer});
        optimizer =
            named(train::optimizers(), "sgd").make(train::trained_parameters(*model), {.lr = 0.01});
        trainer = std::make_unique<train::Trainer>(*model, *sync, *optimizer, phases);
    }
    std::string name;
    NoPhases phases;
    comm::SilentCommunicator data;
    std::shared_ptr<nn::Model> model;
    std::unique_ptr<train::GradientSync> sync;
    std::unique_ptr<train::Optimizer> optimizer;
    std::unique_ptr<train::Trainer> trainer;
    std::vector<double> times;
};

double timed_step(Candidate& candidate, const train::TensorBatch& batch,
                  comm::Communicator& control) {
    control.barrier();
    const auto start = std::chrono::steady_clock::now();
    candidate.trainer->train_step(batch, 1.0 / control.world_size());
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    control.allreduce(comm::view(std::span(&seconds, 1)), comm::ReduceOp::max);
    return seconds;
}

void print(const std::vector<std::unique_ptr<Candidate>>& candidates) {
    fmt::print("{:<28} {:>10} {:>26} {:>34}\n", "variant", "step_ms", "95 % interval",
               "ratio to the first (paired)");
    for (const auto& candidate : candidates) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < candidate->times.size(); ++i)
            ratios.push_back(candidate->times[i] / candidates.front()->times[i]);
        const auto step = stats::summarise(candidate->times);
        const auto ratio = stats::summarise(ratios);
        fmt::print("{:<28} {:>10.2f} {:>12.2f} .. {:>10.2f} {:>10.4f} ({:.4f} .. {:.4f})\n",
                   candidate->name, 1e3 * step.median, 1e3 * step.ci95.low, 1e3 * step.ci95.high,
                   ratio.median, ratio.ci95.low, ratio.ci95.high);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string model = argc > 1 ? argv[1] : "wide-mlp";
    const std::int64_t samples = argc > 2 ? std::atoll(argv[2]) : 32;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 40;
    comm::MpiEnvironment mpi;
    auto& control = mpi.control();
    at::set_num_threads(1);
    using train::Progress;
    using train::Transfer;
    const std::vector<Variant> variants{
        {"flat", "flat"},
        {"c10d", "c10d", Progress::thread},
        {"bucketed none blocking", "bucketed", Progress::none},
        {"bucketed poll blocking", "bucketed", Progress::poll},
        {"bucketed thread blocking", "bucketed", Progress::thread},
        {"bucketed thread background", "bucketed", Progress::thread, Transfer::background},
        {"bucketed, silent", "bucketed", Progress::none, Transfer::blocking, true}};
    std::vector<std::unique_ptr<Candidate>> candidates;
    for (const auto& variant : variants)
        candidates.push_back(std::make_unique<Candidate>(variant, model, control));
    const auto input = named(nn::models(), model).input;
    const train::TensorBatch batch{
        torch::randn({samples, input.channels, input.height, input.width}),
        torch::arange(samples).remainder(input.classes)};
    std::mt19937 random(1);  // an equal order on all ranks
    std::vector<std::size_t> order(candidates.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (int round = -3; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            const double seconds = timed_step(*candidates[i], batch, control);
            if (round >= 0) candidates[i]->times.push_back(seconds);
        }
    }
    if (control.rank() == 0) print(candidates);
}
