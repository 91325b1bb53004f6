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

// The words of the option, checked; one that changes nothing where it is not given.
template <class Check>
std::vector<std::string> swept(const options::Options& options, const std::string& name, Check check) {
    if (!options.has(name)) return {""};
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

// What several runs cannot share.
void check_shared(const options::Options& options) {
    for (const char* name : {"checkpoint", "save-parameters"}) {
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

std::vector<Variant> sweep_variants(const options::Options& options) {
    const auto batches = swept(options, "sweep-global-batch", check_number);
    const auto scalings = swept(options, "sweep-lr-scaling", check_scaling);
    auto syncs = chosen_syncs(options, {});
    if (syncs.size() < 2) syncs = {""};
    const bool repeats = options.is_set("repetitions") && !options.flag("ablation");
    const auto rounds = repeats ? static_cast<int>(options.integer("repetitions")) : 1;
    if (batches.front().empty() && scalings.front().empty() && syncs.front().empty() && rounds == 1)
        return {};
    check_shared(options);
    std::vector<Variant> variants;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& sync : syncs) {
            for (const auto& batch : batches) {
                for (const auto& scaling : scalings) {
                    Variant variant{{}, round};
                    if (!sync.empty()) variant.options.emplace_back("sync", sync);
                    if (!batch.empty()) variant.options.emplace_back("global-batch-size", batch);
                    if (!scaling.empty()) variant.options.emplace_back("lr-scaling", scaling);
                    variants.push_back(std::move(variant));
                }
            }
        }
    }
    return variants;
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
        const std::string name = name_of(run);
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
