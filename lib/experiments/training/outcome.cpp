#include "experiments/training/outcome.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "base/failure.hpp"
#include "base/mpirun.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/ablation.hpp"
#include "host/facts.hpp"
#include "host/topology.hpp"
#include "options/schema.hpp"

namespace ranklab::experiments {
namespace {

void add_scaler(results::Run& run, const train::GradScaler& scaler) {
    run.context.push_back({"training", "loss_scale", fmt::format("{}", scaler.scale())});
    run.context.push_back({"training", "skipped_steps", fmt::format("{}", scaler.skipped())});
}

void add_replicas(results::Run& run, const train::DataParallel& replicas) {
    const auto& threads = replicas.threads();
    const bool on_gpus = replicas.places().on_gpus();
    run.context.push_back(
        {"training", "replicas", on_gpus ? train::placement(replicas.places()) : threads.placement()});
    if (on_gpus || !threads.cpus().empty()) return;
    const auto cores = host::cores_in(host::cpuset());
    run.warnings.push_back(fmt::format(
        "the {} replicas are not bound to cores of their own, since the process has {}: their times include "
        "waiting for each other; start with more cores ({} --bind-to none, srun --cpus-per-task={}), or "
        "use fewer --replicas",
        threads.count(), cores, base::mpirun(), threads.count()));
}

}  // namespace

void TrainingOutcome::write_beside(results::Run& run, const std::function<void()>& write) {
    try {
        write();
    } catch (const std::exception& error) {
        run.warnings.insert(run.warnings.begin(), options::told(error));
        if (run.exit_code == 0) run.exit_code = static_cast<int>(base::describe_failure(error).code);
    }
}

results::Run TrainingOutcome::finish(const TrainingLoop& loop) {
    around_.progress.activity("gathering timings");
    auto run = run_of(loop);
    const bool writes = run.valid && !loop.trials().empty() && !facts_.options.ablation.benchy_json.empty();
    if (writes && around_.control.rank() == 0)
        write_beside(run, [&] { write_benchy_json(facts_.options.ablation.benchy_json, loop.trials()); });
    around_.progress.finish();
    return run;
}

results::Run TrainingOutcome::run_of(const TrainingLoop& loop) const {
    results::Run run = start_;
    add_facts(run, loop);
    if (facts_.options.ablation.on)
        add_trials(run, loop);
    else
        fill_run(run, loop.record(), loop.verdicts(), host::host_name(), around_.control);
    return run;
}

void TrainingOutcome::add_trials(results::Run& run, const TrainingLoop& loop) const {
    fill_verdicts(run, loop.verdicts());
    const bool has_trials = run.valid && !loop.trials().empty();
    if (has_trials) add_ablation(run, loop.trials());
    mark_stopped(run, loop.stop_signal(),
                 has_trials ? "during the trials: the numbers cover the complete rounds"
                            : "during the trials, before a round was complete: there are no numbers");
    if (loop.stop_signal() != 0 && !has_trials) run.valid = false;
}

void TrainingOutcome::add_facts(results::Run& run, const TrainingLoop& loop) const {
    const auto fact = [&run](const char* key, const std::string& value) {
        run.context.push_back({"training", key, value});
    };
    run.context.push_back({"libraries", "libtorch", TORCH_VERSION});
    run.context.push_back({"libraries", "libtorch_cpu_capability", at::get_cpu_capability()});
    fact("parameters", fmt::format("{}", nn::parameter_count(facts_.model)));
    fact("data_origin", facts_.data.origin);
    fact("train_samples", fmt::format("{}", facts_.data.train->size()));
    fact("test_samples", fmt::format("{}", facts_.data.test->size()));
    fact("intra_op_threads", fmt::format("{}", at::get_num_threads()));
    add_format(run, facts_.options.format);
    if (!facts_.rate_warning.empty()) run.warnings.push_back(facts_.rate_warning);
    if (facts_.checkpoints != nullptr && around_.control.rank() == 0) facts_.checkpoints->describe(run);
    if (loop.replicas() != nullptr) add_replicas(run, *loop.replicas());
    if (loop.scaler() != nullptr) add_scaler(run, *loop.scaler());
}

}  // namespace ranklab::experiments
