#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "report/predict/evidence.hpp"
#include "stats/distributions.hpp"

namespace ranklab::report::diagnosis {
namespace {

using results::Run;

constexpr std::size_t kMostBlocks = 10, kFewestSteps = 4;  // blocks; steps in a block
constexpr double kNoticeable = 3;                          // least saving to advise, percent
constexpr double kSmallBatch = 0.15;     // the update's share of a rank's computing
constexpr double kGoodEfficiency = 0.8;  // POP's threshold; from there on: bound by computing
constexpr const char* kLossNames[] = {"imbalance between nodes", "imbalance in a node",
                                      "waiting for samples", "imbalance from step to step",
                                      "summing gradients"};

struct Steps {
    const Run& run;
    Parts whole = {};                // zeros if the run does not store the parts
    std::vector<Parts> blocks = {};  // of successive steps
    double steps_s = 0;
    // Ranks and cores of the first host, threads and own cores of its first rank, which stand for
    // all hosts and ranks. NaN: not known.
    double ranks = 0, threads = 1, own_cores = stats::kNone, host_cores = stats::kNone;

    bool measured() const { return whole.step_s() > 0; }
    // Whether this loss is the largest one, and the efficiency of the step below kGoodEfficiency.
    bool is_bound_by(double lost_s) const {
        return whole.parallel() < kGoodEfficiency &&
               lost_s == std::max({whole.lost_s(Parts::input), whole.lost_s(Parts::transfer),
                                   whole.imbalance_s()});
    }
    bool waits_for_input() const { return is_bound_by(whole.lost_s(Parts::input)); }
    double start_up_s() const { return run.median("time_to_first_step_s"); }
    double start_up_percent() const {
        return 100 * start_up_s() / std::max(run.duration_s, start_up_s() + steps_s);
    }
    // The value of the whole run, with the 95 % interval of the blocks' mean (Student's t).
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

void add_cores(Steps& all) {
    const auto& first = all.run.hosts.front();
    std::set<std::size_t> of_host;
    for (const auto& row : all.run.hosts) {
        if (row.host != first.host) continue;
        ++all.ranks;
        of_host.merge(base::numbers_in(row.cores).value_or(std::set<std::size_t>()));
    }
    const bool on_gpu = all.run.setting(setting::kDevice) == "cuda";
    if (on_gpu || first.threads == 0 || of_host.empty()) return;
    all.threads = first.threads;
    all.own_cores = base::real(base::numbers_in(first.cores).value_or(of_host).size());
    all.host_cores = base::real(of_host.size());
}

// Returns no parts if backward contains the wait for other ranks, which would count as computing.
Steps steps_of(const Run& run) {
    Steps all{run};
    const auto* const step = run.find(vocabulary::kStepTime);
    const std::size_t count = step == nullptr ? 0 : step->rows(), ranks = run.hosts.size(),
                      blocks = std::min(kMostBlocks, count / kFewestSteps);
    if (count == 0 || step->columns != ranks || (run.says(fact::kWaitsInBackward) && ranks > 1))
        return all;
    all.whole = parts_of(run, 0, count);
    all.steps_s = static_cast<double>(count) * all.whole.step_s();
    for (std::size_t i = 0; i < blocks; ++i)
        all.blocks.push_back(parts_of(run, i * count / blocks, (i + 1) * count / blocks));
    add_cores(all);
    return all;
}

std::string last_rank(const Run& run) {
    const auto rows = model::rows_of(run, "waiting");
    const auto share = [](const auto& row) { return row.number("came_last_share"); };
    const auto last = std::ranges::max_element(rows, {}, share);
    if (last == rows.end() || std::isnan(share(*last))) return "not known";
    return fmt::format("rank {} on {} in {} of the steps", last->row, last->text("host"),
                       percent_text(100 * share(*last)));
}

struct CauseRow {
    Cause cause;
    const char *bound, *name, *sentence;
    bool (*applies)(const Steps& all);
};
// The first that applies is the cause. Waiting for input comes before oversubscribed cores, which
// blur only the other losses. Start-up counts only without --steps, in a whole training.
constexpr CauseRow kCauses[] = {
    {Cause::not_measured, "unknown", "not_measured",
     "cause unknown: the run does not store the parts of its step; the table `waterfall` "
     "of a run with --ablation has them",
     [](const Steps& all) { return !all.measured(); }},
    {Cause::starting, "start_up", "starting",
     "bound by start-up: {start_up} of the run passes before the first step ends",
     [](const Steps& all) {
         return all.run.setting(setting::kSteps).empty() && all.start_up_percent() > 50;
     }},
    {Cause::costly_loader, "input", "costly_loader",
     "bound by input: waiting for samples takes {input} of the step; making them takes {making}, "
     "mostly decoding",
     [](const Steps& all) {
         return all.waits_for_input() && all.whole.decoding_s > all.whole.reading_s;
     }},
    {Cause::slow_input, "input", "slow_input",
     "bound by input: waiting for samples takes {input} of the step; making them takes {making}",
     [](const Steps& all) { return all.waits_for_input(); }},
    {Cause::threads_on_cores, "compute", "threads_on_cores",
     "bound by computing: the {threads} threads of a rank share its {cores} cores",
     [](const Steps& all) { return all.threads > all.own_cores; }},
    {Cause::ranks_on_cores, "compute", "ranks_on_cores",
     "bound by computing: the {host_threads} threads of a host share {host_cores} cores",
     [](const Steps& all) { return all.threads * all.ranks > all.host_cores; }},
    {Cause::late_rank, "imbalance", "late_rank",
     "bound by imbalance: waiting for the last rank takes {imbalance} of the step; most often "
     "last: {last}",
     [](const Steps& all) { return all.is_bound_by(all.whole.imbalance_s()); }},
    {Cause::transfer, "communication", "transfer",
     "bound by communication: summing {bytes} of gradients takes {transfer} of the step",
     [](const Steps& all) { return all.is_bound_by(all.whole.lost_s(Parts::transfer)); }},
    {Cause::small_batch, "compute", "small_batch",
     "bound by computing: the batch is small; {fixed} of the step does not depend on it",
     [](const Steps& all) { return all.whole.update_s >= kSmallBatch * all.whole.computing_s(); }},
    {Cause::none, "compute", "none",
     "bound by computing: {computing} of the step; the largest loss is {loss}, {lost}",
     [](const Steps&) { return true; }}};

const CauseRow& row_of(Cause cause) {
    return *std::ranges::find(kCauses, cause, &CauseRow::cause);
}

std::string sentence_of(const CauseRow& row, const Steps& all) {
    const auto& p = all.whole;
    const auto percent = [&](double seconds) { return percent_text(p.percent_of(seconds)); };
    const auto loss = p.largest_loss();
    return fmt::format(
        fmt::runtime(row.sentence), fmt::arg("start_up", percent_text(all.start_up_percent())),
        fmt::arg("input", percent(p.lost_s(Parts::input))),
        fmt::arg("making", readable(p.loader_s(), "s")), fmt::arg("threads", all.threads),
        fmt::arg("cores", all.own_cores), fmt::arg("host_threads", all.threads * all.ranks),
        fmt::arg("host_cores", all.host_cores), fmt::arg("imbalance", percent(p.imbalance_s())),
        fmt::arg("last", last_rank(all.run)),
        fmt::arg("bytes", readable(all.run.median("reduced_bytes_per_step"), "B")),
        fmt::arg("transfer", percent(p.lost_s(Parts::transfer))),
        fmt::arg("fixed", percent(p.fixed_s())), fmt::arg("computing", percent(p.computing_s())),
        fmt::arg("loss", kLossNames[loss]), fmt::arg("lost", percent(p.lost_s(loss))));
}

Frame parts_frame(const Steps& all) {
    Frame frame{.title = "Mean step, with the factors of its parallel efficiency"};
    frame.columns = {{.name = "part", .role = Role::key},
                     {.name = "time_s", .unit = "s", .head = "time"},
                     {.name = "percent", .unit = "%", .head = "share"},
                     {.name = "efficiency", .unit = "1", .interval = true}};
    const auto add = [&](const char* name, double seconds, const Cell& factor) {
        const double percent = all.whole.percent_of(seconds);
        if (percent >= 0.05)  // less would read 0 %
            frame.rows.push_back({{name, Cell(seconds), Cell(percent), factor}, {}});
    };
    add("computing", all.whole.computing_s(), {});
    for (std::size_t i = 0; i < Parts::kLosses; ++i) {
        const auto loss = Parts::Loss(i);
        add(kLossNames[i], all.whole.lost_s(loss),
            all.estimate([loss](const Parts& p) { return p.factor(loss); }));
    }
    add("step", all.whole.step_s(), all.estimate([](const Parts& p) { return p.parallel(); }));
    frame.notes = {fmt::format("start-up: {} until the first step ends, {} of the run",
                               readable(all.start_up_s(), "s"),
                               percent_text(all.start_up_percent()))};
    return frame;
}

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

// Options to try: known savings before upper bounds, the largest first.
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
    advise(is(Cause::none, Cause::small_batch) && threads > all.threads,
           fmt::format("--threads {}", threads), {}, computing(all.threads, threads));
    advise(is(Cause::threads_on_cores) && all.ranks * all.threads <= cpus,
           fmt::format("mpirun --map-by slot:PE={} --bind-to core", all.threads), {},
           computing(all.own_cores, all.threads));
    advise(is(Cause::ranks_on_cores),
           fmt::format("mpirun -n {}", ranks) +
               (all.threads > 1 ? fmt::format(" --map-by slot:PE={}", all.threads) : ""),
           saving(imbalance));
    advise(is(Cause::late_rank) && all.own_cores < all.host_cores, "mpirun --bind-to none", {},
           saving(imbalance).number);
    std::ranges::stable_sort(frame.rows, {}, [&](const Row& row) {
        return std::pair(!row.cells[1].is_number(), -size(row.cells[1], row.cells[2]));
    });
    frame.drop_empty_columns();
    return frame;
}

}  // namespace

std::string bound_of(Cause cause) {
    return row_of(cause).bound;
}

std::string name_of(Cause cause) {
    return row_of(cause).name;
}

Diagnosis diagnose(const Run& run, const std::optional<predict::CapAdvice>& cap) {
    const Steps all = steps_of(run);
    const auto& row =
        *std::ranges::find_if(kCauses, [&](const CauseRow& one) { return one.applies(all); });
    return {.run = run.id,
            .cause = row.cause,
            .why = sentence_of(row, all),
            .parts = all.measured() ? parts_frame(all) : Frame(),
            .start_up_s = all.start_up_s(),
            .advice = advice_for(all, row.cause, cap.value_or(predict::CapAdvice()))};
}

Diagnosis diagnose(const Run& run, const results::ResultFile& file) {
    const auto found = diagnose(run);
    if (found.cause != Cause::transfer || !run.says(fact::kCapsBuckets)) return found;
    auto runs = predict::runs_for_mechanism({file, {}});
    std::erase_if(runs, [&](const Run& other) {
        return other.command == "train" && !predict::is_same_work(other, run);
    });
    const auto on_first_host =
        std::ranges::count(run.hosts, run.hosts.front().host, &results::HostRow::host);
    const predict::WhatIf same{.batch_size = predict::number_of(run, setting::kBatchSize, 0),
                               .ranks_per_node = on_first_host,
                               .bucket_cap_mb = predict::number_of(run, setting::kBucketCap, 0),
                               .precision = run.setting(setting::kPrecision)};
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
                      {"bound", bound_of(found.cause)},
                      {"cause", name_of(found.cause)},
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
