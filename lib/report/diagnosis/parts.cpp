#include "report/diagnosis/parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "base/numbers.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::diagnosis {
namespace {

using results::Run;
using Values = std::vector<double>;

constexpr std::size_t kMostBlocks = 10, kFewestBlocks = 4, kFewestSteps = 4;  // of a block

// Of each rank in each step; zeros where the run has no such part.
Values samples_of(const Run& run, std::string_view name, std::size_t size) {
    const auto* const found = run.find(name);
    return found != nullptr && found->samples.size() == size ? found->samples : Values(size);
}

// Of all ranks and steps.
struct Matrix {
    forecast::StepMatrix steps;
    Values reading, decoding;

    std::size_t count() const { return steps.step_s.size() / steps.node_of.size(); }
};

Matrix matrix_of(const Run& run, const Values& step) {
    const auto samples = [&](const char* name) { return samples_of(run, name, step.size()); };
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

// Of the steps from `first` to before `end`.
Parts parts_of(const Matrix& all, std::size_t first, std::size_t end) {
    const std::size_t ranks = all.steps.node_of.size();
    const auto mean = [&](const Values& values) {
        return stats::mean_of_finite(
            std::span(values).subspan(first * ranks, (end - first) * ranks));
    };
    return {efficiencies_of(all.steps, first, end - first), mean(all.steps.update_s),
            mean(all.reading), mean(all.decoding)};
}

double seconds_in(const results::Table& table, std::string_view row_name, const char* column) {
    const auto key = table.columns.front().name;
    for (std::size_t row = 0; row < model::row_count(table); ++row)
        if (model::text_at(table, key, row) == row_name)
            return std::max(0.0, model::number_at(table, column, row));
    return 0;
}

// By --ablation, which does not tell reading from decoding; `rest` counts as waiting.
Measured of_trials(const results::Table& waterfall, const results::Table& trials, double workers) {
    const auto part = [&](const char* name) { return seconds_in(waterfall, name, "step_s"); };
    Parts parts{.decoding_s = std::max(1.0, workers) * seconds_in(trials, "io", "step_time_s")};
    auto& level = parts.found.level_s;
    level = {part("compute"),      0, part("imbalance"), part("input"), part("rest"),
             part("communication")};
    std::partial_sum(level.begin(), level.end(), level.begin());
    return {parts};
}

}  // namespace

// PyTorch's reducer (c10d) waits for other ranks inside of backward.
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
    Measured measured{parts_of(all, 0, all.count())};
    const std::size_t blocks = std::min(kMostBlocks, all.count() / kFewestSteps);
    for (std::size_t i = 0; i < blocks; ++i)
        measured.blocks.push_back(
            parts_of(all, i * all.count() / blocks, (i + 1) * all.count() / blocks));
    return measured;
}

double half_width_of_mean(const Values& values) {
    const auto n = static_cast<double>(values.size());
    if (values.size() < kFewestBlocks) return stats::kNone;
    const double mean = stats::mean_of_finite(values);
    double squares = 0;
    for (const double one : values) squares += (one - mean) * (one - mean);
    return stats::student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
}

double setting_of(const Run& run, const char* name) {
    return base::number_in(run.setting(name)).value_or(0);
}

Place place_of(const Run& run) {
    const auto& first = run.hosts.front();
    Place place{.nodes = static_cast<double>(model::node_count(run))};
    place.ranks =
        static_cast<double>(std::ranges::count(run.hosts, first.host, &results::HostRow::host));
    base::NumberRanges all;
    const auto own = base::ranges_in(first.cores);
    if (run.setting("device") == "cuda" || first.threads == 0 || first.cores.empty() || !own)
        return place;
    for (const auto& row : run.hosts)
        if (const auto cores = base::ranges_in(row.cores); cores && row.host == first.host)
            all.insert(all.end(), cores->begin(), cores->end());
    place.threads = first.threads;
    place.own_cores = static_cast<double>(base::count_of(*own));
    place.cores = static_cast<double>(base::count_of(all)) / place.ranks;
    place.host_cpus = base::number_in(run.fact("host", "logical_cpus")).value_or(0);
    return place;
}

}  // namespace ranklab::report::diagnosis
