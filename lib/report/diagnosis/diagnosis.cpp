#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "report/diagnosis/parts.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using forecast::Loss;
using results::Run;
using Values = std::vector<double>;

constexpr std::size_t kMostBlocks = 10, kFewestBlocks = 4, kFewestSteps = 4;  // of a block
constexpr double kSmallBatch = 0.15;  // the update's share of a rank's computing

// All ranks and steps.
struct Matrix {
    forecast::StepMatrix steps;
    Values reading, decoding;

    std::size_t count() const { return steps.step_s.size() / steps.node_of.size(); }
    // Steps from `first` to before `end`.
    Parts parts(std::size_t first, std::size_t end) const {
        const auto mean = [&, ranks = steps.node_of.size()](const Values& all) {
            return stats::mean_of_finite(
                std::span(all).subspan(first * ranks, (end - first) * ranks));
        };
        return {efficiencies_of(steps, first, end - first), mean(steps.update_s), mean(reading),
                mean(decoding)};
    }
};

Matrix matrix_of(const Run& run, const Values& step) {
    const auto samples = [&](const char* name) {  // zeros where the run has no such part
        const auto* const found = run.find(name);
        const bool there = found != nullptr && found->samples.size() == step.size();
        return there ? found->samples : Values(step.size());
    };
    Matrix all{{.compute_s = step,
                .update_s = samples("optimizer_time_s"),
                .input_s = samples("data_time_s"),
                .step_s = step,
                .synchronised = run.setting("mode") == "ddp" && run.setting("sync") != "none"},
               samples("loader_read_time_s"),
               samples("loader_decode_time_s")};
    std::map<std::string, int> nodes;
    for (const auto& row : run.hosts)
        all.steps.node_of.push_back(
            nodes.try_emplace(row.host, static_cast<int>(nodes.size())).first->second);
    const Values waited = samples("sync_exposed_time_s"),
                 augmenting = samples("loader_augment_time_s");
    for (std::size_t i = 0; i < step.size(); ++i) {
        all.steps.compute_s[i] -= all.steps.input_s[i] + waited[i];
        all.decoding[i] += augmenting[i];
    }
    return all;
}

// By --ablation, which does not tell reading from decoding; `rest` counts as waiting.
Measured of_trials(const results::Table& waterfall, const results::Table& trials, double workers) {
    const auto seconds = [](const results::Table& table, const char* row_name, const char* column) {
        for (std::size_t row = 0; row < model::row_count(table); ++row)
            if (model::text_at(table, table.columns.front().name, row) == row_name)
                return std::max(0.0, model::number_at(table, column, row));
        return 0.0;
    };
    Parts parts{.decoding_s = std::max(1.0, workers) * seconds(trials, "io", "step_time_s")};
    auto& level = parts.found.level_s;
    std::ranges::transform(
        std::array{"compute", "none", "imbalance", "input", "rest", "communication"}, level.begin(),
        [&](const char* part) { return seconds(waterfall, part, "step_s"); });
    std::partial_sum(level.begin(), level.end(), level.begin());
    return {parts};
}

// nullopt where the run does not store them. PyTorch's reducer (c10d) waits inside of backward.
std::optional<Measured> measured_parts(const Run& run) {
    const auto *const waterfall = run.find_table("waterfall"), *const trials =
                                                                   run.find_table("ablation");
    if (waterfall != nullptr && trials != nullptr)
        return of_trials(*waterfall, *trials, setting_of(run, "workers"));
    const auto* const step = run.find(vocabulary::kStepTime);
    if (step == nullptr || step->rows() == 0 || step->columns != run.hosts.size() ||
        (run.setting("sync") == "c10d" && run.hosts.size() > 1))
        return std::nullopt;
    const Matrix all = matrix_of(run, step->samples);
    Measured measured{all.parts(0, all.count())};
    const std::size_t blocks = std::min(kMostBlocks, all.count() / kFewestSteps);
    for (std::size_t i = 0; i < blocks; ++i)
        measured.blocks.push_back(
            all.parts(i * all.count() / blocks, (i + 1) * all.count() / blocks));
    return measured;
}

Place place_of(const Run& run) {
    const auto& first = run.hosts.front();
    Place place{.ranks = static_cast<double>(
                    std::ranges::count(run.hosts, first.host, &results::HostRow::host)),
                .nodes = static_cast<double>(model::node_count(run)),
                .host_cpus = base::number_in(run.fact("host", "logical_cpus")).value_or(0)};
    if (run.setting("device") == "cuda" || first.threads == 0) return place;
    base::NumberRanges all;
    for (const auto& row : run.hosts)
        if (const auto cores = base::ranges_in(row.cores); cores && row.host == first.host)
            all.insert(all.end(), cores->begin(), cores->end());
    place.threads = first.threads;
    place.own_cores =
        static_cast<double>(base::count_of(base::ranges_in(first.cores).value_or(all)));
    place.all_cores = static_cast<double>(base::count_of(all));
    return place;
}

// Phases of threads that share cores contain each other's time, so that of the losses the wait for
// input alone counts before them. Other processes slow one rank or another.
std::pair<Bound, Cause> verdict_of(const Run& run, const Parts& parts, const Place& place) {
    const Bound bound = bound_of(parts.found);
    const bool one_node = place.nodes == 1, trials = run.find_table("ablation") != nullptr;
    if (bound == Bound::input)
        return {bound, parts.decoding_s > parts.reading_s && !trials ? Cause::costly_loader
                                                                     : Cause::slow_input};
    if (place.own_cores > 0 && place.threads > place.own_cores)
        return {Bound::compute, Cause::threads_on_cores};
    if (place.all_cores > 0 && place.threads * place.ranks > place.all_cores)
        return {Bound::compute, Cause::ranks_on_cores};
    if (bound != Bound::compute && one_node && run.fact("place", "quiet") == "no")
        return {bound, Cause::other_load};
    if (bound == Bound::imbalance) return {bound, Cause::late_rank};
    if (parts.update_s >= kSmallBatch * parts.found.level_s.front() ||
        (bound == Bound::communication && one_node))
        return {bound, Cause::small_batch};
    return {bound, bound == Bound::communication ? Cause::transfer : Cause::none};
}

std::string last_rank(const Run& run) {
    const auto* const table = run.find_table("waiting");
    const auto* const last = table == nullptr ? nullptr : table->find<double>("came_last_share");
    if (last == nullptr || last->empty()) return "not known";
    const auto row = static_cast<std::size_t>(std::ranges::max_element(*last) - last->begin());
    return fmt::format("rank {} on {} in {} of the steps", row, model::text_at(*table, "host", row),
                       percent_text(100 * (*last)[row]));
}

// The cause's sentence has a place for it.
std::string detail_of(const Run& run, Cause cause, const Parts& parts, const Place& place) {
    switch (cause) {
        case Cause::slow_input:
        case Cause::costly_loader:
            return readable(parts.reading_s + parts.decoding_s, "s");
        case Cause::threads_on_cores:
            return fmt::format("{:g} on {:g}", place.threads, place.own_cores);
        case Cause::ranks_on_cores:
            return fmt::format("{:g} on {:g}", place.threads * place.ranks, place.all_cores);
        case Cause::late_rank:
            return last_rank(run);
        case Cause::other_load:
            return run.fact("place", "others_cores");
        case Cause::transfer:
            return readable(run.median("reduced_bytes_per_step"), "B");
        case Cause::small_batch:
            return percent_text(100 * parts.share_of(parts.fixed_s()));
        default:
            return "";
    }
}

// The start of a run of some steps says nothing about a whole training.
void add_start_up(Diagnosis& found, const Run& run) {
    found.start_up_s = run.median("time_to_first_step_s");
    found.start_up_share = found.start_up_s / std::max(run.duration_s, found.start_up_s);
    if (!run.setting("steps").empty() || !(found.start_up_share > 0.5)) return;
    found.reason = {Bound::start_up, Cause::starting, percent_text(100 * found.start_up_share)};
    found.advice.clear();
}

}  // namespace

double half_width_of_mean(const Values& values) {
    const auto n = static_cast<double>(values.size());
    if (values.size() < kFewestBlocks) return stats::kNone;
    const double mean = stats::mean_of_finite(values);
    double squares = 0;
    for (const double one : values) squares += (one - mean) * (one - mean);
    return stats::student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
}

Diagnosis diagnose(const Run& run, const std::vector<Advice>& network) {
    if (run.command != "train")
        throw base::OptionError(
            fmt::format("run {} is not a training run, and a diagnosis is of one", run.id),
            {"run"});
    Diagnosis found{.run = run.id, .reason = {.cause = Cause::not_measured}, .advice = {Advice()}};
    const auto measured = run.valid && !run.hosts.empty() ? measured_parts(run) : std::nullopt;
    if (!measured) return found;
    const Place place = place_of(run);
    const Parts& parts = measured->whole;
    found.found = parts.found;
    for (std::size_t i = 0; i < forecast::kLosses; ++i)
        found.factors[i] = estimate(
            *measured, [&](const Parts& p) { return p.found.factor(static_cast<Loss>(i)); });
    found.parallel = estimate(*measured, [](const Parts& p) { return p.found.parallel(); });
    const auto [bound, cause] = verdict_of(run, parts, place);
    found.reason = {bound, cause,
                    percent_text(100 * parts.share_of(seconds_of(parts.found, bound))),
                    detail_of(run, cause, parts, place)};
    found.advice = advice_for(run, cause, *measured, place,
                              bound == Bound::communication ? network : std::vector<Advice>());
    add_start_up(found, run);
    return found;
}

Diagnosis diagnose(const results::ResultFile& file, const std::string& id) {
    const Run run = file.read(id);
    const Diagnosis found = diagnose(run);
    return found.reason.bound == Bound::communication ? diagnose(run, bucket_cap_for(file, run))
                                                      : found;
}

}  // namespace ranklab::report::diagnosis
