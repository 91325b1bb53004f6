// What to try against the cause of a run's largest loss, and the time per sample that it saves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/diagnosis/steps.hpp"
#include "report/predict/evidence.hpp"

namespace ranklab::report::diagnosis {
namespace {

constexpr double kNoticeable = 3;  // least saving to advise, percent

// Step time with `workers` loader threads: the longest of the step without its wait for samples,
// the loader's work per thread (or its reading, if threads read in turn), and all work of a host
// per core.
double step_with(const Steps& all, const Parts& p, double workers) {
    const double rest = p.step_s() - p.lost_s(Parts::input),
                 reads = all.run.says(fact::kReadsInTurn) ? p.reading_s : 0,
                 work = (p.decoding_s + p.computing_s() * all.threads) * all.ranks / all.host_cores;
    if (workers == 0) return rest + p.loader_s();
    return std::fmax(std::max({rest, p.loader_s() / workers, reads}), work);
}

// The fewest loader threads with nearly the shortest step.
double workers_for(const Steps& all) {
    const auto& p = all.whole;
    return std::clamp(std::ceil(0.98 * p.loader_s() / step_with(all, p, HUGE_VAL)), 1.0, 16.0);
}

// By what factor (2 to 16) to grow the batch, so that fixed_s() is at most a tenth of the step.
double growth_for(const Parts& p) {
    const double fixed = p.percent_of(p.fixed_s());
    return std::clamp(std::exp2(std::ceil(std::log2(9 * fixed / (100 - fixed)))), 2.0, 16.0);
}

}  // namespace

Frame advice_for(const Steps& all, Cause cause, const predict::CapAdvice& cap) {
    Frame frame{.title = "What to try, and the time per sample that it saves"};
    frame.columns = {
        {.name = "option", .role = Role::key, .head = "try"},
        {.name = "gain_percent", .unit = "%", .interval = true, .head = "expected saving"},
        {.name = "at_most_percent", .unit = "%", .head = "upper bound"}};
    const auto size = [](const Cell& saving, const Cell& at_most) {
        return saving.is_number() ? saving.number : at_most.number;
    };
    // In percent of the step. `saving` is empty if only its upper bound is known.
    const auto advise = [&](bool applies, const std::string& option, const Cell& saving,
                            const Cell& at_most = {}) {
        if (applies && !(size(saving, at_most) < kNoticeable))
            frame.rows.push_back({{option, saving, at_most}});
    };
    const auto& p = all.whole;
    const double workers = workers_for(all), growth = growth_for(p),
                 // For the cores that decoding leaves free.
        threads = std::floor(all.host_cores / all.ranks - p.decoding_s / p.step_s()),
                 ranks = std::max(1.0, std::floor(all.host_cores / all.threads)) *
                         static_cast<double>(model::node_count(all.run)),
                 cpus = base::number_in(all.run.fact(fact::kLogicalCpus)).value_or(0);
    const auto is = [&](auto... causes) { return ((cause == causes) || ...); };
    const auto number = [&](auto key) { return predict::number_of(all.run, key, 0); };
    const auto saving = [&](const auto& saved_s) {
        return all.estimate([&](const Parts& one) { return one.percent_of(saved_s(one)); });
    };
    const auto saved = [](double ratio) { return 100 * (1 - 1 / ratio); };
    const auto imbalance = [](const Parts& one) { return one.imbalance_s(); };
    const auto computing = [&](double now, double then) {  // assumes no serial part
        return p.percent_of((1 - now / then) * p.computing_s());
    };
    advise(is(Cause::not_measured) && all.run.find_table("waterfall") == nullptr, "--ablation", {});
    advise(is(Cause::costly_loader, Cause::slow_input), fmt::format("--workers {}", workers),
           saving([&](const Parts& one) {
               return step_with(all, one, number(setting::kWorkers)) - step_with(all, one, workers);
           }));
    advise(is(Cause::transfer, Cause::small_batch),
           fmt::format("--batch-size {}", growth * number(setting::kBatchSize)),
           saving([&](const Parts& one) { return (1 - 1 / growth) * one.fixed_s(); }),
           saved(growth));
    advise(is(Cause::transfer) && cap.cap_mb > 0, fmt::format("--bucket-cap-mb {}", cap.cap_mb),
           {saved(cap.gain.ratio), {saved(cap.gain.ci.low), saved(cap.gain.ci.high)}});
    advise(is(Cause::idle_cores, Cause::small_batch) && threads > all.threads,
           fmt::format("--threads {}", threads), {}, computing(all.threads, threads));
    advise(is(Cause::threads_on_cores) && all.ranks * all.threads <= cpus,
           fmt::format("mpirun --map-by slot:PE={} --bind-to core", all.threads), {},
           computing(all.own_cores, all.threads));
    advise(is(Cause::ranks_on_cores),
           fmt::format("mpirun -n {}", ranks) +
               (all.threads > 1 ? fmt::format(" --map-by slot:PE={}", all.threads) : ""),
           saving(imbalance));
    advise(is(Cause::late_rank) && all.own_cores < all.host_cores, "mpirun --bind-to none", {},
           p.percent_of(p.late_s()));
    advise(is(Cause::other_load), "sbatch --exclusive", {}, p.percent_of(all.other_load_s()));
    std::ranges::stable_sort(frame.rows, {}, [&](const Row& row) {
        return std::pair(!row.cells[1].is_number(), -size(row.cells[1], row.cells[2]));
    });
    frame.drop_empty_columns();
    return frame;
}

}  // namespace ranklab::report::diagnosis
