#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "report/predict/evidence.hpp"
#include "stats/distributions.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::report::diagnosis {
namespace {

using results::Run;

constexpr std::size_t kMostBlocks = 10, kFewestSteps = 4;  // kFewestSteps: per block
constexpr double kNoticeable = 3;                          // percent; smaller gains are not advised
constexpr double kSmallBatch = 0.15;     // the update's share of a rank's computing
constexpr double kGoodEfficiency = 0.8;  // POP's threshold: above it computing limits
constexpr const char* kLossNames[] = {"imbalance between nodes", "imbalance in a node",
                                      "waiting for samples", "uneven steps", "summing gradients"};

struct Facts {
    const Run& run;
    Parts whole = {};                // zeros if the run did not store them
    std::vector<Parts> blocks = {};  // of successive steps
    double steps_s = 0;
    // Of the first rank and its host; other hosts are assumed to be equal. NaN: not known.
    double ranks = 0, threads = 1, own_cores = stats::kNone, all_cores = stats::kNone;

    double setting(const char* name) const {
        return base::number_in(run.setting(name)).value_or(0);
    }
    bool measured() const { return whole.step_s() > 0; }
    double start_up_s() const { return run.median("time_to_first_step_s"); }
    double start_up_percent() const {
        return 100 * start_up_s() / std::max(run.duration_s, start_up_s() + steps_s);
    }
    // The value over all steps, with the 95 % interval of its mean over the blocks (batch means,
    // Student's t).
    template <class Function>
    Cell estimate(const Function& of) const {
        std::vector<double> values;
        for (const auto& block : blocks) values.push_back(of(block));
        const double value = of(whole), n = static_cast<double>(blocks.size()),
                     mean = stats::mean_of_finite(values);
        if (n < 2) return value;
        double squares = 0;
        for (const double one : values) squares += std::pow(one - mean, 2);
        const double half =
            stats::student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
        return {value, {value - half, value + half}};
    }
};

// Measures nothing where backward contains the wait for other ranks, which looks like computing.
Facts facts_of(const Run& run) {
    Facts f{run};
    const auto* const step = run.find("step_time_s");
    const std::size_t count = step == nullptr ? 0 : step->rows(), ranks = run.hosts.size(),
                      blocks = std::min(kMostBlocks, count / kFewestSteps);
    if (count == 0 || step->columns != ranks ||
        (run.says(vocabulary::fact::kWaitsInBackward) && ranks > 1))
        return f;
    f.whole = parts_of(run, 0, count);
    f.steps_s = static_cast<double>(count) * f.whole.step_s();
    for (std::size_t i = 0; i < blocks; ++i)
        f.blocks.push_back(parts_of(run, i * count / blocks, (i + 1) * count / blocks));
    const auto& first = run.hosts.front();
    base::NumberRanges all;
    for (const auto& row : run.hosts) {
        if (row.host != first.host) continue;
        ++f.ranks;
        const auto cores = base::ranges_in(row.cores).value_or(base::NumberRanges());
        all.insert(all.end(), cores.begin(), cores.end());
    }
    if (run.setting("device") == "cuda" || first.threads == 0 || all.empty()) return f;
    f.threads = first.threads;
    f.own_cores = static_cast<double>(base::count_of(base::ranges_in(first.cores).value_or(all)));
    f.all_cores = static_cast<double>(base::count_of(all));
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

// Returns the first cause that holds. Threads that share cores lengthen each other's phases, so
// causes of sharing come before the losses, except the wait for input. With --steps the start-up is
// not judged: the run is shorter than a training.
Cause cause_of(const Facts& f) {
    const auto& p = f.whole;
    const double input_s = p.lost_s(Parts::input), imbalance_s = p.imbalance_s(),
                 transfer_s = p.lost_s(Parts::transfer),
                 limit_s = p.parallel() >= kGoodEfficiency
                               ? stats::kNone
                               : std::max({input_s, transfer_s, imbalance_s});
    const bool input = input_s == limit_s;
    const auto percent = [&](double seconds) { return percent_text(p.percent_of(seconds)); };
    const std::string waits =
        fmt::format("input limits: {} of the step waits for samples; making them takes {}",
                    percent(input_s), readable(p.loader_s(), "s"));
    const Cause all[] = {
        {!f.measured(), "unknown", "not_measured",
         "cannot tell: the run does not store its parts; the table waterfall of --ablation has "
         "them"},
        {f.run.setting("steps").empty() && f.start_up_percent() > 50, "start_up", "starting",
         fmt::format("start-up limits: {} of the run passes before the first step ends",
                     percent_text(f.start_up_percent()))},
        {input && p.decoding_s > p.reading_s, "input", "costly_loader",
         waits + ", most of it decoding"},
        {input, "input", "slow_input", waits},
        {f.threads > f.own_cores, "compute", "threads_on_cores",
         fmt::format("computing limits: the threads of a rank take turns on its cores, {} on {}",
                     f.threads, f.own_cores)},
        {f.threads * f.ranks > f.all_cores, "compute", "ranks_on_cores",
         fmt::format("computing limits: the threads of a host take turns on its cores, {} on {}",
                     f.threads * f.ranks, f.all_cores)},
        {imbalance_s == limit_s, "imbalance", "late_rank",
         fmt::format("imbalance limits: {} of the step waits for the last rank, most often {}",
                     percent(imbalance_s), last_rank(f.run))},
        {transfer_s == limit_s, "communication", "transfer",
         fmt::format("communication limits: {} of the step sums {} of gradients",
                     percent(transfer_s), readable(f.run.median("reduced_bytes_per_step"), "B"))},
        {p.update_s >= kSmallBatch * p.computing_s(), "compute", "small_batch",
         fmt::format("computing limits: the batch is small; {} of the step does not depend on it",
                     percent(p.fixed_s()))},
        {true, "compute", "none",
         fmt::format("computing limits: {} of the step; the largest loss is {}, {}",
                     percent(p.computing_s()), kLossNames[p.largest_loss()],
                     percent(p.lost_s(p.largest_loss())))},
    };
    return *std::ranges::find_if(all, &Cause::holds);
}

Frame parts_frame(const Facts& f) {
    Frame frame{.title = "The mean step, and the factors of its parallel efficiency"};
    frame.columns = {{.name = "part", .key = true},
                     {.name = "time_s", .unit = "s", .head = "time"},
                     {.name = "percent", .unit = "%", .head = "share"},
                     {.name = "efficiency", .unit = "1", .interval = true}};
    const auto add = [&](const char* name, double seconds, const Cell& factor) {
        const double percent = f.whole.percent_of(seconds);
        if (percent >= 0.05)  // smaller shares would be shown as 0
            frame.rows.push_back({{name, Cell(seconds), Cell(percent), factor}, {}});
    };
    add("computing", f.whole.computing_s(), {});
    for (std::size_t i = 0; i < Parts::kLosses; ++i) {
        const auto loss = Parts::Loss(i);
        add(kLossNames[i], f.whole.lost_s(loss),
            f.estimate([loss](const Parts& p) { return p.factor(loss); }));
    }
    add("step", f.whole.step_s(), f.estimate([](const Parts& p) { return p.parallel(); }));
    frame.notes = {fmt::format("start-up: {} until the first step was done, {} of the run",
                               readable(f.start_up_s(), "s"), percent_text(f.start_up_percent()))};
    return frame;
}

// The longest of: a step without its wait for samples; the loader's threads, which may have to read
// in turn; all work of a host on its cores.
double step_with(const Facts& f, const Parts& p, double workers) {
    const double rest = p.step_s() - p.lost_s(Parts::input),
                 reads = f.run.says(vocabulary::fact::kReadsInTurn) ? p.reading_s : 0,
                 work = (p.decoding_s + p.computing_s() * f.threads) * f.ranks / f.all_cores;
    if (workers == 0) return rest + p.loader_s();
    return std::fmax(std::max({rest, p.loader_s() / workers, reads}), work);
}

struct Remedy {
    bool holds;
    std::string option;
    Cell gain, at_most = {};  // percent of the step; gain: measured, at_most: a bound
};

std::vector<Remedy> remedies_for(const Facts& f, const Cause& cause,
                                 const predict::CapAdvice& cap) {
    const auto& p = f.whole;
    const double fixed = p.percent_of(p.fixed_s());
    // The fewest loader threads that do not limit the step. `growth`: of the batch, until at most a
    // tenth of the step is fixed time.
    const double workers = std::clamp(std::ceil(0.98 * p.loader_s() / step_with(f, p, HUGE_VAL)),
                                      1.0, 16.0),
                 growth = std::clamp(std::exp2(std::ceil(std::log2(9 * fixed / (100 - fixed)))),
                                     2.0, 16.0),
                 // without the cores that decoding keeps busy
        threads = std::floor(f.all_cores / f.ranks - p.decoding_s / p.step_s()),
                 ranks = std::max(1.0, std::floor(f.all_cores / f.threads)) *
                         static_cast<double>(model::node_count(f.run)),
                 cpus = base::number_in(f.run.fact("host", "logical_cpus")).value_or(0);
    const auto gain = [&](const auto& saved_s) {
        return f.estimate([&](const Parts& one) { return one.percent_of(saved_s(one)); });
    };
    const auto saved = [](double ratio) { return 100 * (1 - 1 / ratio); };
    const auto imbalance = [](const Parts& one) { return one.imbalance_s(); };
    const auto computing = [&](double now, double then) {  // a bound: no part is serial
        return p.percent_of((1 - now / then) * p.computing_s());
    };
    return {
        {cause.is({"not_measured"}) && f.run.find_table("waterfall") == nullptr, "--ablation", {}},
        {cause.is({"costly_loader", "slow_input"}), fmt::format("--workers {}", workers),
         gain([&](const Parts& one) {
             return step_with(f, one, f.setting("workers")) - step_with(f, one, workers);
         })},
        {cause.is({"transfer", "small_batch"}),
         fmt::format("--batch-size {}", growth * f.setting("batch-size")),
         gain([&](const Parts& one) { return (1 - 1 / growth) * one.fixed_s(); }), saved(growth)},
        {cause.is({"transfer"}) && cap.cap_mb > 0,
         fmt::format("--bucket-cap-mb {}", cap.cap_mb),
         {saved(cap.gain.ratio), {saved(cap.gain.ci.low), saved(cap.gain.ci.high)}}},
        {cause.is({"none", "small_batch"}) && threads > f.threads,
         fmt::format("--threads {}", threads),
         {},
         computing(f.threads, threads)},
        {cause.is({"threads_on_cores"}) && f.ranks * f.threads <= cpus,
         fmt::format("mpirun --map-by slot:PE={} --bind-to core", f.threads),
         {},
         computing(f.own_cores, f.threads)},
        {cause.is({"ranks_on_cores"}),
         fmt::format("mpirun -n {}", ranks) +
             (f.threads > 1 ? fmt::format(" --map-by slot:PE={}", f.threads) : ""),
         gain(imbalance)},
        {cause.is({"late_rank"}) && f.own_cores < f.all_cores,
         "mpirun --bind-to none",
         {},
         gain(imbalance).number},
    };
}

Frame advice_frame(std::vector<Remedy> remedies) {
    Frame frame{.title = "What to try, and the time per sample that it saves"};
    frame.columns = {{.name = "option", .key = true, .head = "try"},
                     {.name = "gain_percent", .unit = "%", .interval = true, .head = "gain"},
                     {.name = "at_most_percent", .unit = "%", .head = "at most"}};
    const auto size = [](const Remedy& one) {
        return one.gain.is_number() ? one.gain.number : one.at_most.number;
    };
    std::erase_if(remedies,
                  [&](const Remedy& one) { return !one.holds || size(one) < kNoticeable; });
    std::ranges::stable_sort(remedies, {}, [&](const Remedy& one) {
        return std::pair(!one.gain.is_number(), -size(one));
    });
    for (const auto& one : remedies)
        frame.rows.push_back({{one.option, one.gain, one.at_most}, {}});
    frame.drop_empty_columns();
    return frame;
}

}  // namespace

Diagnosis diagnose(const Run& run, const std::optional<predict::CapAdvice>& cap) {
    const Facts f = facts_of(run);
    const Cause cause = cause_of(f);
    return {.run = run.id,
            .bound = cause.bound,
            .cause = cause.name,
            .why = cause.why,
            .parts = f.measured() ? parts_frame(f) : Frame(),
            .start_up_s = f.start_up_s(),
            .advice = advice_frame(remedies_for(f, cause, cap.value_or(predict::CapAdvice())))};
}

Diagnosis diagnose(const Run& run, const results::ResultFile& file) {
    const auto found = diagnose(run);
    if (found.cause != "transfer" || !run.says(vocabulary::fact::kCapsBuckets)) return found;
    auto runs = predict::runs_for_mechanism({file, {}});
    std::erase_if(runs, [&](const Run& other) {
        return other.command == "train" && !predict::is_same_work(other, run);
    });
    const Facts f = facts_of(run);
    const predict::WhatIf same{.batch_size = f.setting("batch-size"),
                               .ranks_per_node = f.ranks,
                               .bucket_cap_mb = f.setting("bucket-cap-mb"),
                               .precision = run.setting("precision")};
    return diagnose(run, predict::best_bucket_cap(runs, same, run.hosts.size()));
}

std::string text_of(const Diagnosis& found) {
    std::string text = fmt::format("run {}\n", base::one_line(found.run)) +
                       base::wrapped("  why           ", found.why);
    for (const Frame* const frame : {&found.parts, &found.advice})
        if (!frame->empty()) text += '\n' + report::text_of(*frame);
    return text;
}

std::string json_of(const Diagnosis& found) {
    return json_line({{"schema", 1},
                      {"run", found.run},
                      {"bound", found.bound},
                      {"cause", found.cause},
                      {"sentence", found.why},
                      {"parts", json_rows(found.parts)},
                      {"start_up_s", found.start_up_s},
                      {"advice", json_rows(found.advice)}});
}

std::string html_of(const Diagnosis& found) {
    const std::string id = html_escape(found.run);
    return fmt::format("<p>Run <a href=\"#run-{0}\">{0}</a>: {1}</p>\n", id,
                       html_escape(found.why)) +
           report::html_of(found.parts) + report::html_of(found.advice);
}

}  // namespace ranklab::report::diagnosis
