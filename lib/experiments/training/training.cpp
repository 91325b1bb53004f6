#include "experiments/training/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/model_of.hpp"
#include "experiments/training/options.hpp"
#include "experiments/training/resources.hpp"
#include "experiments/training/run.hpp"

namespace ranklab::experiments {
namespace {

using results::Setting;

// What the number of samples decides: stored, and unknown before the data is read.
std::vector<std::string> open_until_the_data(const TrainingOptions& options) {
    std::vector<std::string> open;
    if (!options.common.warmup) open.emplace_back("warmup");
    if (train::is_cosine(options.rate.shape) && options.rate.total_steps == 0)
        open.emplace_back("lr-total-steps");
    return open;
}

std::vector<Setting> facts_of(const TrainingOptions& options, int world_size) {
    const auto& outline = options.outline;
    const auto& settings = options.settings;
    const auto steps = settings.steps ? *settings.steps + options.common.warmup.value_or(0) : 0;
    std::vector<Setting> facts{
        {"parameters", fmt::format("{}", outline.parameters), true},
        {"forward-flops-per-sample",
         fmt::format("{} ({:.2f} GFLOP: 2 x multiply-accumulates of convolutions and linear layers; training "
                     "about 3 times that)",
                     outline.forward_flops, 1e-9 * static_cast<double>(outline.forward_flops)),
         false},
        {"learning-rate", lr_text(options.rate, steps), false},
        {"ranks", fmt::format("{}", world_size), true}};
    if (const auto open = open_until_the_data(options); !open.empty())
        facts.push_back({"settled-when-the-data-is-read", base::join(open, ", "), false});
    if (options.is_first_look)
        facts.push_back(
            {"note",
             fmt::format("a first look of {} steps; --epochs 1 trains with all samples", *settings.steps),
             false});
    if (options.speed.precision == train::Precision::fp16 && !options.speed.cuda)
        facts.push_back({"note",
                         "fp16 is not made for CPUs: steps are many times slower than with --precision "
                         "fp32 or bf16",
                         false});
    if (const auto note = made_for_note(options, world_size); !note.empty())
        facts.push_back({"note", note, false});
    return facts;
}

class TrainingPlan final : public Plan {
  public:
    TrainingPlan(options::Options& options, int world_size)
        : settled_(settle_training(options, world_size)), facts_(facts_of(settled_, world_size)) {}

    std::vector<Setting> facts() const override { return facts_; }
    void agree(options::Options& options, comm::Communicator& control) override {
        settled_.way = settle_overlap_way(settled_, control);
        options.settle(settled_.settings);
    }
    void rehearse(comm::Communicator& control) override {
        comm::together(control, [&] {
            if (settled_.settings.buckets && control.rank() == 0) write_bucket_file(settled_);
        });
    }

    /// Stopped by a signal on any rank: the run of what was done by then, marked; before its first step
    /// base::Interrupted.
    Runs run(const RunContext& context) override { return {{make_training_run(settled_, context)}}; }

  private:
    TrainingOptions settled_;
    std::vector<Setting> facts_;
};

}  // namespace

std::string Training::examples() const {
    return "  ranklab train --steps 200                                   one rank, Fashion-MNIST, the "
           "published network\n"
           "  mpirun -n 2 ranklab train --batch-size 32 --epochs 3        two ranks, global batch 64\n"
           "  ranklab train --mode dp --replicas 2 --batch-size 64        one process, two threads that "
           "share the "
           "batch\n"
           "  ranklab sweep train --ranks 1,2,4 --scaling strong --global-batch-size 64\n"
           "                                                              how it scales\n"
           "  srun -n 8 ranklab train --config configs/mnist/ddp2.ini     a named configuration under Slurm\n"
           "  ranklab train --data synthetic --steps 50 --output none     no files at all\n";
}

void Training::describe(options::Schema& schema) const {
    describe_training(schema);
}

std::vector<Listing> Training::listings() const {
    std::vector<Listing> lists;
    const auto list = [&lists](const char* title, const auto& catalogue) {
        Listing listing{title, {}};
        for (const auto& entry : catalogue) listing.entries.emplace_back(entry.name, entry.summary);
        lists.push_back(std::move(listing));
    };
    list("--model", nn::models());
    list("--data", data::sources());
    list("--sync", train::gradient_syncs());
    list("--optimizer", train::optimizers());
    list("--backend", comm::backends());
    return lists;
}

bool Training::may_use_gpus(const options::Options& options) const {
    return options.fields<vocabulary::TrainingSettings>().device != "cpu";
}

// A configuration that is made for several ranks has it in its name: configs/mnist/ddp2.ini.
bool Training::wants_ranks(const options::Options& options) const {
    const auto config = options.fields<vocabulary::CommonSettings>().config.value_or("");
    return std::filesystem::path(config).stem().string().find("ddp") != std::string::npos ||
           options.fields<vocabulary::TrainingSettings>().mode == "ddp";
}

std::unique_ptr<Plan> Training::settle(options::Options& options, int world_size) {
    return std::make_unique<TrainingPlan>(options, world_size);
}

}  // namespace ranklab::experiments
