#include "experiments/batch_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
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
}

std::vector<Variant> sweep_variants(const options::Options& options) {
    const auto batches = swept(options, "sweep-global-batch", check_number);
    const auto scalings = swept(options, "sweep-lr-scaling", check_scaling);
    if (batches.front().empty() && scalings.front().empty()) return {};
    for (const char* name : {"checkpoint", "save-parameters"}) {
        if (options.has(name))
            throw base::OptionError(fmt::format(
                "--{} is one run's, and a sweep makes several; leave it out, or make one run at a time",
                name));
    }
    std::vector<Variant> variants;
    for (const auto& batch : batches) {
        for (const auto& scaling : scalings) {
            Variant variant;
            if (!batch.empty()) variant.options.emplace_back("global-batch-size", batch);
            if (!scaling.empty()) variant.options.emplace_back("lr-scaling", scaling);
            variants.push_back(std::move(variant));
        }
    }
    return variants;
}

results::Table sweep_table(const std::vector<results::Run>& runs) {
    std::vector<std::string> batch, scaling, id, valid;
    std::vector<std::int64_t> steps, samples;
    std::vector<double> rate, time, loss, validation;
    for (const auto& run : runs) {
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
             {"run", id}}};
}

}  // namespace ranklab::experiments
