#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/numbers.hpp"
#include "forecast/pop.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using forecast::Efficiencies;
using results::Run;
using Values = std::vector<double>;

constexpr std::size_t kMostBlocks = 10, kFewestBlocks = 4,
                      kFewestSteps = 4;  // the last: in a block
constexpr double kNoticeable = 3;        // percent; less is not worth a try
constexpr double kSmallBatch = 0.15;     // the update's share of a rank's computing

// Seconds of a mean step; of the loader all threads of a rank together.
struct Parts {
    Efficiencies pop = {};
    double update_s = 0, reading_s = 0, decoding_s = 0;  // decoding and augmenting take a core

    double of(Bound bound) const { return seconds_of(pop, bound); }
    // Neither the sum of the gradients nor the update depend on the batch.
    double fixed_s() const { return update_s + of(Bound::communication); }
    double percent_of(double seconds) const { return 100 * seconds / pop.step_s(); }
};

Parts parts_of(const Run& run, std::size_t first_step, std::size_t end_step) {
    const std::size_t ranks = run.hosts.size(), first = first_step * ranks;
    const auto samples = [&](const char* name) {  // zeros where the run has no such part
        const auto* const found = run.find(name);
        Values some(end_step * ranks - first);
        if (found != nullptr && found->samples.size() >= first + some.size())
            std::copy_n(found->samples.begin() + static_cast<std::ptrdiff_t>(first), some.size(),
                        some.begin());
        return some;
    };
    const auto mean = [&](const char* name) { return stats::mean_of_finite(samples(name)); };
    forecast::StepMatrix steps{
        .compute_s = samples("step_time_s"),
        .update_s = samples("optimizer_time_s"),
        .input_s = samples("data_time_s"),
        .step_s = samples("step_time_s"),
        .synchronised = run.setting("mode") == "ddp" && run.setting("sync") != "none"};
    for (const auto& row : run.hosts) steps.node_of.push_back(row.host);
    const Values waited = samples("sync_exposed_time_s");
    for (std::size_t i = 0; i < waited.size(); ++i)
        steps.compute_s[i] -= steps.input_s[i] + waited[i];
    return {efficiencies_of(steps), mean("optimizer_time_s"), mean("loader_read_time_s"),
            mean("loader_decode_time_s") + mean("loader_augment_time_s")};
}

struct Facts {
    const Run& run;
    bool measured = false;  // otherwise the run does not store its parts
    Parts whole = {};
    std::vector<Parts> blocks = {};  // successive steps; none where there are too few
    Bound bound = {};
    // The first rank and its host; the others are taken to be alike. NaN: not known.
    double ranks = 0, threads = 1, own_cores = stats::kNone, all_cores = stats::kNone;

    double setting(const char* name) const {
        return base::number_in(run.setting(name)).value_or(0);
    }
    double start_up_percent() const {  // share of the run
        const double start_up = run.median("time_to_first_step_s");
        double steps_s = 0;
        if (const auto* const step = run.find("step_time_s"))
            for (const double one : step->largest_of_rows()) steps_s += one;
        return 100 * start_up / std::max(run.duration_s, start_up + steps_s);
    }
    // With 95 % of its mean over the blocks by Student's t (batch means).
    template <class Function>
    Cell estimate(const Function& of) const {
        const double value = of(whole), n = static_cast<double>(blocks.size());
        if (n == 0) return value;
        Values values;
        for (const auto& block : blocks) values.push_back(of(block));
        const double mean = stats::mean_of_finite(values);
        double squares = 0;
        for (const double one : values) squares += (one - mean) * (one - mean);
        const double half =
            stats::student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
        return {value, {value - half, value + half}};
    }
};

void add_place(Facts& f) {
    const auto& first = f.run.hosts.front();
    base::NumberRanges all;
    for (const auto& row : f.run.hosts) {
        if (row.host != first.host) continue;
        ++f.ranks;
        const auto cores = base::ranges_in(row.cores).value_or(base::NumberRanges());
        all.insert(all.end(), cores.begin(), cores.end());
    }
    if (f.run.setting("device") == "cuda" || first.threads == 0 || all.empty()) return;
    f.threads = first.threads;
    f.own_cores = static_cast<double>(base::count_of(base::ranges_in(first.cores).value_or(all)));
    f.all_cores = static_cast<double>(base::count_of(all));
}

// PyTorch's reducer (c10d) waits inside of backward, where nothing tells its wait from computing.
Facts facts_of(const Run& run) {
    Facts f{run};
    const auto* const step = run.find("step_time_s");
    const std::size_t count = step == nullptr ? 0 : step->rows(), ranks = run.hosts.size(),
                      blocks = std::min(kMostBlocks, count / kFewestSteps);
    if (count == 0 || step->columns != ranks || (run.setting("sync") == "c10d" && ranks > 1))
        return f;
    f.measured = true;
    f.whole = parts_of(run, 0, count);
    f.bound = bound_of(f.whole.pop);
    for (std::size_t i = 0; blocks >= kFewestBlocks && i < blocks; ++i)
        f.blocks.push_back(parts_of(run, i * count / blocks, (i + 1) * count / blocks));
    add_place(f);
    return f;
}

std::string last_rank(const Run& run) {
    const auto* const table = run.find_table("waiting");
    const auto* const last = table == nullptr ? nullptr : table->find<double>("came_last_share");
    if (last == nullptr || last->empty()) return "not known";
    const auto row = static_cast<std::size_t>(std::ranges::max_element(*last) - last->begin());
    return fmt::format("rank {} on {} in {} of the steps", row, model::text_at(*table, "host", row),
                       percent_text(100 * (*last)[row]));
}

struct Cause {
    bool holds;
    const char *bound, *name;
    std::string why;

    bool is(std::initializer_list<std::string_view> names) const {
        return std::ranges::find(names, name) != names.end();
    }
};

// The first that holds. Phases of threads that share cores contain each other's time, so that of
// the losses the wait for input alone counts before them. The start of a run of some steps says
// nothing about a whole training.
Cause cause_of(const Facts& f) {
    const auto& p = f.whole;
    const bool input = f.bound == Bound::input;
    const auto percent = [&](double seconds) { return percent_text(p.percent_of(seconds)); };
    const std::string share = percent(p.of(f.bound)), start_up = percent_text(f.start_up_percent()),
                      sum = readable(f.run.median("reduced_bytes_per_step"), "B"),
                      waits = fmt::format(
                          "input limits: {} of the step waits for samples; to make them takes {}",
                          share, readable(p.reading_s + p.decoding_s, "s"));
    const Cause all[] = {
        {!f.measured, "unknown", "not_measured",
         "cannot tell: the run does not store its parts; the table waterfall of --ablation has "
         "them"},
        {f.run.setting("steps").empty() && f.start_up_percent() > 50, "start_up", "starting",
         fmt::format("start-up limits: {} of the run passes before the first step ends", start_up)},
        {input && p.decoding_s > p.reading_s, "input", "costly_loader",
         waits + ", most of it decoding"},
        {input, "input", "slow_input", waits},
        {f.threads > f.own_cores, "compute", "threads_on_cores",
         fmt::format("computing limits: the threads of a rank take turns on its cores, {} on {}",
                     f.threads, f.own_cores)},
        {f.threads * f.ranks > f.all_cores, "compute", "ranks_on_cores",
         fmt::format("computing limits: the threads of a host take turns on its cores, {} on {}",
                     f.threads * f.ranks, f.all_cores)},
        {f.bound == Bound::imbalance, "imbalance", "late_rank",
         fmt::format("imbalance limits: {} of the step waits for the last rank, most often {}",
                     share, last_rank(f.run))},
        {f.bound == Bound::communication, "communication", "transfer",
         fmt::format("communication limits: {} of the step sums {} of gradients", share, sum)},
        {p.update_s >= kSmallBatch * p.of(Bound::compute), "compute", "small_batch",
         fmt::format("computing limits: the batch is small; {} of the step does not depend on it",
                     percent(p.fixed_s()))},
        {true, "compute", "none",
         fmt::format("computing limits: {} of the step, and no loss is large", share)},
    };
    return *std::ranges::find_if(all, &Cause::holds);
}

Frame parts_frame(const Facts& f) {
    constexpr std::array kNames{"imbalance between nodes", "imbalance in a node",
                                "waiting for samples", "uneven steps", "summing gradients"};
    Frame frame{.title = "The mean step, and the factors of its parallel efficiency"};
    frame.columns = {{.name = "part", .key = true},
                     {.name = "time_s", .unit = "s", .head = "time"},
                     {.name = "percent", .unit = "%", .head = "share"},
                     {.name = "efficiency", .unit = "1", .interval = true}};
    const auto add = [&](const char* name, double seconds, const Cell& factor) {
        const double percent = f.whole.percent_of(seconds);
        if (percent >= 0.05)  // less is shown as 0
            frame.rows.push_back({{name, Cell(seconds), Cell(percent), factor}, {}});
    };
    add("computing", f.whole.of(Bound::compute), {});
    for (std::size_t i = 0; i < kNames.size(); ++i)
        add(kNames[i], f.whole.pop.lost_s(i),
            f.estimate([i](const Parts& p) { return p.pop.factor(i); }));
    add("step", f.whole.pop.step_s(), f.estimate([](const Parts& p) { return p.pop.parallel(); }));
    frame.notes = {fmt::format("start-up: {} until the first step was done, {} of the run",
                               readable(f.run.median("time_to_first_step_s"), "s"),
                               percent_text(f.start_up_percent()))};
    return frame;
}

// The longest of: a step without its wait for samples; the threads that make them (HDF5 reads for
// one at a time); all of the work on the host's cores.
double step_with(const Facts& f, const Parts& p, double workers) {
    const double rest = p.pop.step_s() - p.of(Bound::input), loader = p.reading_s + p.decoding_s,
                 reads = f.run.setting("data") == "hdf5" ? p.reading_s : 0,
                 work = (p.decoding_s + p.of(Bound::compute) * f.threads) * f.ranks / f.all_cores;
    if (workers == 0) return rest + loader;
    return std::fmax(std::max({rest, loader / workers, reads}), work);
}

struct Remedy {
    bool holds;
    std::string option;
    Cell gain;  // percent of the step
    // All that the gain may be; NaN: it is measured as a whole; 0: the gain is the most.
    double limit = stats::kNone;
};

std::vector<Remedy> remedies_for(const Facts& f, const Cause& cause,
                                 const predict::CapAdvice& cap) {
    const auto& p = f.whole;
    const double loader_s = p.reading_s + p.decoding_s, rest_s = step_with(f, p, HUGE_VAL),
                 fixed = p.percent_of(p.fixed_s());
    // The fewest that do not take longest; a batch whose step has a tenth of fixed time at most.
    const double workers = std::clamp(std::ceil(0.98 * loader_s / rest_s), 1.0, 16.0),
                 growth = std::clamp(std::exp2(std::ceil(std::log2(9 * fixed / (100 - fixed)))),
                                     2.0, 16.0),
                 threads = std::floor(f.all_cores / f.ranks),
                 ranks = std::max(1.0, std::floor(f.all_cores / f.threads)) *
                         static_cast<double>(model::node_count(f.run)),
                 cpus = base::number_in(f.run.fact("host", "logical_cpus")).value_or(0);
    const auto gain = [&](const auto& saved_s) {
        return f.estimate([&](const Parts& one) { return one.percent_of(saved_s(one)); });
    };
    const Cell imbalance = gain([](const Parts& one) { return one.of(Bound::imbalance); });
    const auto computing = [&](double now, double then) {
        return gain([&](const Parts& one) { return (1 - now / then) * one.of(Bound::compute); });
    };
    const auto saved = [](double ratio) { return 100 * (1 - 1 / ratio); };
    return {
        {cause.is({"not_measured"}) && f.run.find_table("waterfall") == nullptr, "--ablation", {}},
        {cause.is({"costly_loader", "slow_input"}), fmt::format("--workers {}", workers),
         gain([&](const Parts& one) {
             return step_with(f, one, f.setting("workers")) - step_with(f, one, workers);
         })},
        {cause.is({"transfer", "small_batch"}),
         fmt::format("--batch-size {}", growth * f.setting("batch-size")),
         gain([&](const Parts& one) { return (1 - 1 / growth) * one.fixed_s(); }), saved(growth)},
        {cause.is({"transfer"}) && cap.cap_mb > 0, fmt::format("--bucket-cap-mb {}", cap.cap_mb),
         Cell(saved(cap.gain.ratio), {saved(cap.gain.ci.low), saved(cap.gain.ci.high)})},
        {cause.is({"none", "small_batch"}) && threads > f.threads,
         fmt::format("--threads {}", threads), computing(f.threads, threads), 0},
        {cause.is({"threads_on_cores"}) && f.ranks * f.threads <= cpus,
         fmt::format("mpirun --map-by slot:PE={} --bind-to core", f.threads),
         computing(f.own_cores, f.threads), 0},
        {cause.is({"ranks_on_cores"}),
         fmt::format(
             fmt::runtime(f.threads > 1 ? "mpirun -n {} --map-by slot:PE={}" : "mpirun -n {}"),
             ranks, f.threads),
         imbalance, 100},
        {cause.is({"late_rank"}) && f.own_cores < f.all_cores, "mpirun --bind-to none", imbalance,
         0},
    };
}

Frame advice_frame(const Facts& f, const Cause& cause, const predict::CapAdvice& cap) {
    Frame frame{.title = "What to try, and the time per sample that it saves"};
    frame.columns = {{.name = "option", .key = true, .head = "try"},
                     {.name = "gain_percent", .unit = "%", .interval = true, .head = "gain"},
                     {.name = "at_most_percent", .unit = "%", .head = "at most"}};
    for (auto& [holds, option, gain, limit] : remedies_for(f, cause, cap)) {
        if (!holds || gain.number < kNoticeable) continue;
        if (limit == 0) {
            frame.rows.push_back({{option, Cell(), gain.number}, {}});
            continue;
        }
        gain.interval.high = std::fmax(gain.interval.high, limit);
        frame.rows.push_back({{option, gain}, {}});
    }
    std::ranges::stable_sort(frame.rows, {}, [](const Row& row) {
        return std::pair(row.cells.size() > 2, -row.cells[row.cells.size() - 1].number);
    });
    frame.drop_empty_columns();
    return frame;
}

}  // namespace

Diagnosis diagnose(const Run& run, const BestCap& best_cap) {
    const Facts f = facts_of(run);
    const Cause cause = cause_of(f);
    const bool ask = cause.is({"transfer"}) && run.setting("sync") == "bucketed";
    return {.run = run.id,
            .bound = cause.bound,
            .cause = cause.name,
            .why = cause.why,
            .parts = f.measured ? parts_frame(f) : Frame(),
            .start_up_s = run.median("time_to_first_step_s"),
            .advice = advice_frame(f, cause, ask ? best_cap() : predict::CapAdvice())};
}

Diagnosis diagnose(const results::ResultFile& file, const std::string& id) {
    const Run run = file.read(id);
    return diagnose(run, [&] {
        auto runs = predict::runs_for_mechanism({file, {}});
        std::erase_if(runs, [&](const Run& other) {
            return other.command == "train" && (other.setting("model") != run.setting("model") ||
                                                other.setting("data") != run.setting("data"));
        });
        const Facts f = facts_of(run);
        const predict::WhatIf same{.batch_size = f.setting("batch-size"),
                                   .ranks_per_node = f.ranks,
                                   .bucket_cap_mb = f.setting("bucket-cap-mb"),
                                   .precision = run.setting("precision")};
        return predict::best_bucket_cap(runs, same, run.hosts.size())
            .value_or(predict::CapAdvice());
    });
}

}  // namespace ranklab::report::diagnosis
