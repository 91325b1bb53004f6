#include "experiments/training/batch_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/shared/target_ci.hpp"
#include "train/lr_schedule.hpp"

namespace ranklab::experiments {
namespace {

void check_number(const std::string& word) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < 1) {
        throw base::OptionError(
            fmt::format("--sweep-global-batch takes whole numbers with commas between, such as 32,128,512; "
                        "'{}' is none",
                        base::printable(word, 40)));
    }
}

void check_scaling(const std::string& word) {
    const auto& names = train::lr_scaling_names();
    if (std::find(names.begin(), names.end(), word) == names.end()) {
        throw base::OptionError(fmt::format("--sweep-lr-scaling takes {} with commas between, not '{}'",
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
    if (values != nullptr) return *values;
    return {};
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
            throw base::OptionError(fmt::format(
                "--{} is one run's, and a sweep makes several; leave it out, or make one run at a time",
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

void describe_sweep(options::Schema& schema) {
    schema.section("Several runs in one command")
        .text("sweep-global-batch", "N,N", std::nullopt,
              "one run for each of these global batches, all from the same weights; with --epochs they see "
              "the same samples")
        .text("sweep-lr-scaling", "WORD,WORD", std::nullopt,
              "one run for each of these --lr-scaling, with each global batch");
    describe_order(schema);
}

std::vector<std::string> chosen_syncs(const options::Options& options,
                                      const std::vector<std::string>& known) {
    std::vector<std::string> chosen;
    if (!options.has("sync")) return chosen;
    for (const auto& word : base::split(options.text("sync"), ',')) {
        if (!known.empty() && std::find(known.begin(), known.end(), word) == known.end()) {
            const auto near = base::nearest(word, known);
            throw base::OptionError(fmt::format("--sync '{}' is none of {}{}", base::printable(word, 40),
                                                base::join(known, ", "),
                                                near ? fmt::format(" (did you mean {}?)", *near) : ""));
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
    std::vector<std::string> sync, batch, scaling, id, valid, mark;
    std::vector<std::int64_t> steps, samples;
    std::vector<double> rate, time, step, low, high, loss, validation;
    for (const auto& run : runs) {
        const auto* step_time = run.find("step_time_s");
        const auto summary = step_time == nullptr ? stats::Summary{} : step_time->summary;
        step.push_back(summary.median);
        low.push_back(summary.ci95.low);
        high.push_back(summary.ci95.high);
        sync.push_back(run.setting("sync"));
        mark.push_back(base::join(run.warnings, "; "));
        batch.push_back(run.setting("global-batch-size"));
        scaling.push_back(run.setting("lr-scaling"));
        id.push_back(run.id);
        valid.emplace_back(run.valid ? "yes" : "NO");
        const auto* rates = run.find("learning_rate");
        rate.push_back(rates == nullptr ? stats::kNone : rates->summary.max);
        steps.push_back(sum(column_of<std::int64_t>(run, "steps")));
        samples.push_back(sum(column_of<std::int64_t>(run, "samples")));
        time.push_back(sum(column_of<double>(run, "time_s")));
        loss.push_back(last(column_of<double>(run, "train_loss")));
        validation.push_back(last(column_of<double>(run, "validation_loss")));
    }
    return {"variants",
            {{"global_batch", batch},
             {"lr_scaling", scaling},
             {"highest_lr", rate},
             {"steps", steps},
             {"samples", samples},
             {"time_s", time},
             {"last_train_loss", loss},
             {"last_validation_loss", validation},
             {"valid", valid},
             {"run", id},
             {"sync", sync},
             {"step_time_s", step},
             {"low_s", low},
             {"high_s", high},
             {"mark", mark}}};
}

results::Table repetitions_table(const std::vector<results::Run>& runs) {
    std::vector<std::string> name;
    std::vector<std::vector<double>> steps, rates;
    for (const auto& run : runs) {
        const auto found = std::find(name.begin(), name.end(), name_of(run)) - name.begin();
        if (static_cast<std::size_t>(found) == name.size()) {
            name.push_back(name_of(run));
            steps.emplace_back();
            rates.emplace_back();
        }
        if (!run.valid) continue;
        steps[static_cast<std::size_t>(found)].push_back(run.median("step_time_s"));
        rates[static_cast<std::size_t>(found)].push_back(run.median("throughput_samples_per_s"));
    }
    if (name.size() == runs.size()) return {};
    std::vector<std::int64_t> n;
    std::vector<double> step, low, high, rate;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto interval = stats::median_interval(steps[i]);
        n.push_back(static_cast<std::int64_t>(steps[i].size()));
        step.push_back(stats::quantile(steps[i], 0.5));
        low.push_back(interval.low);
        high.push_back(interval.high);
        rate.push_back(stats::quantile(rates[i], 0.5));
    }
    return {"repetitions",
            {{"variant", name},
             {"n", n},
             {"step_time_s", step},
             {"low_s", low},
             {"high_s", high},
             {"throughput_samples_per_s", rate}}};
}

std::string repetition_line(const results::Run& run) {
    const auto repetitions = run.setting("repetitions");
    if (repetitions.empty() || repetitions == "1" || run.find("step_time_s") == nullptr) return "";
    return fmt::format("{}: {:.4g} s a step, {:.4g} samples/s", name_of(run), run.median("step_time_s"),
                       run.median("throughput_samples_per_s"));
}

}  // namespace ranklab::experiments
