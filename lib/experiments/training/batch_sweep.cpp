#include "experiments/training/batch_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "experiments/shared/target_ci.hpp"
#include "results/rows.hpp"
#include "results/vocabulary/measurements.hpp"
#include "train/lr_schedule.hpp"

namespace ranklab::experiments {
namespace {

void check_number(const std::string& word) {
    if (base::number_in<std::int64_t>(word).value_or(0) < 1)
        throw base::OptionError(fmt::format(
            "--sweep-global-batch takes whole numbers separated by commas, such as 32,128,512; not '{}'",
            base::printable(word, 40)));
}

void check_scaling(const std::string& word) {
    const auto& names = train::lr_scaling_names();
    if (std::find(names.begin(), names.end(), word) == names.end()) {
        throw base::OptionError(fmt::format("--sweep-lr-scaling takes {} separated by commas, not '{}'",
                                            base::join(names, ", "), base::printable(word, 40)));
    }
}

// The words of the option, checked.
template <class Check>
std::vector<std::string> swept(const options::Options& options, const std::string& name, Check check) {
    if (!options.has(name)) return {};
    const auto words = base::split(options.text(name), ',');
    std::for_each(words.begin(), words.end(), check);
    return words;
}

template <class T>
std::vector<T> column_of(const results::Run& run, const std::string& name) {
    const results::Table* epochs = run.find_table("epochs");
    if (epochs == nullptr) return {};
    const auto* values = epochs->find<T>(name);
    return values == nullptr ? std::vector<T>() : *values;
}

template <class T>
T sum(const std::vector<T>& values) {
    T sum{};
    for (const T value : values) sum += value;
    return sum;
}

using Settings = std::vector<std::pair<std::string, std::string>>;
using Axis = std::vector<Settings>;  // what each of its points sets

Axis axis_of(const std::string& option, const std::vector<std::string>& values) {
    Axis axis;
    for (const auto& value : values) axis.push_back({{option, value}});
    return axis;
}

// The batch that all numbers of ranks share: what the first of them would have.
std::int64_t shared_batch(const options::Options& options, std::int64_t usual_batch, std::int64_t first) {
    const auto of_rank = options.several("batch-size");
    if (of_rank.size() > 1)
        throw base::OptionError(
            "--scaling strong shares one batch among the ranks, and --batch-size names several; give one");
    return first * (of_rank.empty() ? usual_batch : std::stoll(of_rank.front()));
}

std::string part_of(std::int64_t batch, std::int64_t ranks) {
    if (batch % ranks != 0)
        throw base::OptionError(
            fmt::format("--scaling strong: {} ranks cannot share a batch of {} evenly; "
                        "give a --global-batch-size that divides by each of --ranks",
                        ranks, batch));
    return fmt::format("{}", batch / ranks);
}

Axis axis_of_ranks(const options::Options& options, std::int64_t usual_batch) {
    const auto ranks = options.several("ranks");
    Axis axis = axis_of("ranks", ranks);
    const bool is_global = options.is_set("global-batch-size") || options.has("sweep-global-batch");
    const std::string scaling = options.text_or("scaling", is_global ? "strong" : "weak");
    if (scaling == "weak" && is_global)
        throw base::OptionError(
            "--scaling weak keeps each rank's batch; give --batch-size in place of --global-batch-size");
    if (scaling == "weak" || is_global || ranks.empty()) return axis;
    const auto batch = shared_batch(options, usual_batch, std::stoll(ranks.front()));
    for (Settings& point : axis)
        point.emplace_back("batch-size", part_of(batch, std::stoll(point.front().second)));
    return axis;
}

// One value of --ranks is a point, too: the other ranks sleep. One of the others is nothing to sweep.
std::vector<Axis> axes_of(const options::Options& options, std::int64_t usual_batch) {
    std::vector<Axis> axes{axis_of_ranks(options, usual_batch)};
    const auto add_several = [&](const char* option, const std::vector<std::string>& values) {
        if (values.size() > 1) axes.push_back(axis_of(option, values));
    };
    for (const char* option : {"threads", "workers", "batch-size"})
        add_several(option, options.several(option));
    add_several("sync", chosen_syncs(options, {}));
    axes.push_back(axis_of("global-batch-size", swept(options, "sweep-global-batch", check_number)));
    axes.push_back(axis_of("lr-scaling", swept(options, "sweep-lr-scaling", check_scaling)));
    std::erase_if(axes, [](const Axis& axis) { return axis.empty(); });
    return axes;
}

// Each of them with each point of the axis.
std::vector<Variant> crossed(const std::vector<Variant>& variants, const Axis& axis) {
    std::vector<Variant> all;
    for (const auto& variant : variants) {
        for (const Settings& point : axis) {
            auto& one = all.emplace_back(variant);
            one.options.insert(one.options.end(), point.begin(), point.end());
        }
    }
    return all;
}

std::vector<Variant> repeated(const std::vector<Variant>& variants, int rounds) {
    std::vector<Variant> all;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& variant : variants) all.emplace_back(variant).round = round;
    }
    return all;
}

// Trials are no runs whose steps could be compared.
void refuse_lists_of_trials(const options::Options& options) {
    if (!options.flag("ablation")) return;
    for (const char* name : {"ranks", "threads", "workers", "batch-size"})
        if (options.several(name).size() > 1)
            throw base::OptionError(
                fmt::format("--ablation makes trials of one run, and --{} {} asks for several runs; give one "
                            "number",
                            name, options.text(name)));
}

// What several runs cannot share.
void check_shared(const options::Options& options) {
    for (const char* name : {"checkpoint", "save-parameters", "buckets"}) {
        if (options.has(name))
            throw base::OptionError(
                fmt::format("--{} is for a single run, and a sweep makes several; leave it out, or make one "
                            "run at a time",
                            name));
    }
}

std::string name_of(const results::Run& run) {
    return fmt::format("{}, global batch {}{}{}", run.setting("sync"), run.setting("global-batch-size"),
                       run.setting("lr-scaling") == "none" ? "" : ", lr scaling ",
                       run.setting("lr-scaling") == "none" ? "" : run.setting("lr-scaling"));
}

// In front of the name, what the runs do not have in common of their size: "ranks 2, ".
std::string size_of(const results::Run& run, const std::vector<results::Run>& runs) {
    std::string text;
    for (const char* setting : {"ranks", "threads", "workers"}) {
        const auto same = [&](const auto& one) { return one.setting(setting) == run.setting(setting); };
        if (!std::ranges::all_of(runs, same)) text += fmt::format("{} {}, ", setting, run.setting(setting));
    }
    return text;
}

double last(const std::vector<double>& values) {
    return values.empty() ? stats::kNone : values.back();
}

}  // namespace

std::vector<std::string> chosen_syncs(const options::Options& options,
                                      const std::vector<std::string>& known) {
    std::vector<std::string> chosen;
    if (!options.has("sync")) return chosen;
    for (const auto& word : base::split(options.text("sync"), ',')) {
        if (!known.empty() && std::find(known.begin(), known.end(), word) == known.end()) {
            throw base::OptionError(fmt::format("--sync '{}' is none of {}{}", base::printable(word, 40),
                                                base::join(known, ", "), base::or_did_you_mean(word, known)));
        }
        if (std::find(chosen.begin(), chosen.end(), word) == chosen.end()) chosen.push_back(word);
    }
    return chosen;
}

std::vector<Variant> sweep_variants(const options::Options& options, std::int64_t usual_batch) {
    const auto axes = axes_of(options, usual_batch);
    refuse_lists_of_trials(options);
    const bool repeats = options.is_set("repetitions") && !options.flag("ablation");
    const auto rounds = repeats ? static_cast<int>(options.integer("repetitions")) : 1;
    if (axes.empty() && rounds == 1) return {};
    const bool only_ranks =
        axes.size() == 1 && axes.front().size() == 1 && rounds == 1 && options.has("ranks");
    if (!only_ranks) check_shared(options);
    std::vector<Variant> variants(1);
    variants.front().spread = options.flag("spread");
    for (const Axis& axis : axes) variants = crossed(variants, axis);
    for (auto& variant : variants)
        for (const auto& [name, value] : variant.options)
            if (name == "ranks") variant.ranks = std::stoi(value);
    return repeated(variants, rounds);
}

results::Table sweep_table(const std::vector<results::Run>& runs) {
    results::Rows table("variants");
    for (const auto& run : runs) {
        const auto* step_time = run.find(vocabulary::kStepTime);
        const auto step = step_time == nullptr ? stats::Summary{} : step_time->summary;
        const auto* rates = run.find(vocabulary::kLearningRate);
        table.add({run.setting("global-batch-size"), run.setting("lr-scaling"),
                   rates == nullptr ? stats::kNone : rates->summary.max,
                   sum(column_of<std::int64_t>(run, "steps")), sum(column_of<std::int64_t>(run, "samples")),
                   sum(column_of<double>(run, "time_s")), last(column_of<double>(run, "train_loss")),
                   last(column_of<double>(run, "validation_loss")), run.valid ? "yes" : "NO", run.id,
                   run.setting("sync"),
                   run.setting("channels-last") == "true" ? "channels-last" : "contiguous", step.median,
                   step.ci95.low, step.ci95.high, base::join(run.warnings, "; ")});
    }
    return std::move(table).table();
}

results::Table repetitions_table(const std::vector<results::Run>& runs) {
    struct Repeated {
        std::string name;
        std::vector<double> steps, rates;
    };
    std::vector<Repeated> variants;
    for (const auto& run : runs) {
        const std::string name = size_of(run, runs) + name_of(run);
        auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Repeated& one) { return one.name == name; });
        if (found == variants.end()) found = variants.insert(found, {name, {}, {}});
        if (!run.valid) continue;
        found->steps.push_back(run.median(vocabulary::kStepTime));
        found->rates.push_back(run.median(vocabulary::kThroughput));
    }
    if (variants.size() == runs.size()) return {};
    results::Rows table("repetitions");
    for (const auto& [name, steps, rates] : variants) {
        const auto interval = stats::median_interval(steps);
        table.add({name, static_cast<std::int64_t>(steps.size()), stats::quantile(steps, 0.5), interval.low,
                   interval.high, stats::quantile(rates, 0.5)});
    }
    return std::move(table).table();
}

std::string variant_line(const results::Run& run) {
    if (run.find(vocabulary::kStepTime) == nullptr) return "";
    return fmt::format("{}: {:.4g} s a step, {:.4g} samples/s", name_of(run),
                       run.median(vocabulary::kStepTime), run.median(vocabulary::kThroughput));
}

}  // namespace ranklab::experiments
