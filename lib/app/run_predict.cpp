#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/predict/curve.hpp"
#include "report/predict/mechanism.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using options::Options;

const ProgramText kText{
    "predict", "[FILE] [options]",
    "Forecasts the time on more ranks from stored runs, with 95 % intervals, or says why it cannot "
    "and which run would mend that. FILE: results/ranklab.h5 where none is named.",
    "  ranklab predict results/ranklab.h5 --to 8,64               from its longest scaling curve\n"
    "  ranklab predict --where model=resnet18 --scaling weak      twice and four times the "
    "largest\n"
    "  ranklab predict --points times.csv --to 64 --format json   columns ranks,time_s\n"
    "  ranklab predict --by mechanism --to 64 --bucket-cap-mb 5   a step, simulated from its "
    "parts\n"
    "  ranklab predict --validate                                 how well it does on published "
    "curves\n"};

std::optional<forecast::Scaling> scaling_of(const Options& options) {
    if (!options.has("scaling")) return std::nullopt;
    return options.is("scaling", "weak") ? forecast::Scaling::weak : forecast::Scaling::strong;
}

// Without --to twice and four times the largest.
std::vector<double> targets(const Options& options, double largest) {
    if (!options.has("to")) return {2 * largest, 4 * largest};
    std::vector<double> ranks;
    for (const auto& word : base::split(options.text("to"), ',')) {
        const auto number = base::number_in(base::trim(word));
        if (!number || !(*number >= 1 && *number <= 1e9) || *number != std::floor(*number))
            throw base::OptionError(fmt::format("--to {}: give numbers of ranks, as in --to 8,64",
                                                base::printable(options.text("to"), 40)));
        ranks.push_back(*number);
    }
    return ranks;
}

std::string written(const Options& options, const report::Frame& frame) {
    if (options.is("format", "csv")) return report::csv_of(frame);
    if (options.is("format", "markdown")) return report::markdown_of(frame);
    return report::text_of(frame);
}

report::model::ChosenRuns chosen_runs(const Options& options) {
    report::model::Choice choice;
    if (options.has("label")) choice.label = options.text("label");
    choice.conditions = options.texts("where");
    const auto& words = options.positional();
    return {results::ResultFile(words.empty() ? "results/ranklab.h5" : words.front()),
            std::move(choice)};
}

report::predict::Measured measured_of(const Options& options) {
    if (options.has("points"))
        return report::predict::read_points(options.text("points"), scaling_of(options));
    return report::predict::points_of(chosen_runs(options), scaling_of(options));
}

using report::predict::WhatIf;

bool is_by_mechanism(const Options& options) {
    return options.is("by", "mechanism") ||
           (options.is("by", "auto") && options.fields<WhatIf>() != WhatIf{});
}

std::string mechanism_text(const Options& options) {
    auto what_if = options.fields<WhatIf>();
    what_if.strong = scaling_of(options) == forecast::Scaling::strong;
    const auto runs = report::predict::runs_for_mechanism(chosen_runs(options));
    std::size_t largest = 1;
    for (const auto& run : runs) largest = std::max(largest, run.hosts.size());
    std::vector<std::size_t> ranks;
    for (const double one : targets(options, base::real(largest)))
        ranks.push_back(static_cast<std::size_t>(one));
    const auto found =
        report::predict::mechanism_forecast(runs, what_if, ranks, options.flag("force"));
    return options.is("format", "json") ? report::predict::json_of(found)
                                        : written(options, report::predict::frame_of(found));
}

std::string forecast_text(const Options& options) {
    const auto measured = measured_of(options);
    const auto found = report::predict::predict(
        measured, targets(options, measured.points.back().ranks), options.flag("force"));
    if (options.is("format", "json")) return report::predict::json_of(found);
    std::string text = written(options, found.frame);
    if (options.is("format", "text") && !found.next.empty())
        text += fmt::format("  next          {}\n", found.next);
    return text;
}

std::string validation_text(const Options& options) {
    const auto found = report::predict::validate(
        report::model::read_published_curves(reference_folder() / report::model::kPublishedCurves));
    if (options.is("format", "csv")) return report::csv_of(found.curves);
    return written(options, found.curves) + "\n" + written(options, found.refused) + "\n" +
           written(options, found.families);
}

int show(const Options& options) {
    options.check_relations();
    if (options.has("points") && !options.positional().empty())
        throw base::OptionError("give a results file or --points, not both");
    if (options.is("by", "curve") && options.fields<WhatIf>() != WhatIf{})
        throw base::OptionError(
            "--by curve and options of What if exclude each other; leave one out");
    if (options.has("to")) targets(options, 1);  // refused before the file is read
    ReportOutput output(options.text_or("output", ""));
    output.write(options.flag("validate")   ? validation_text(options)
                 : is_by_mechanism(options) ? mechanism_text(options)
                                            : forecast_text(options));
    output.commit();
    return 0;
}

void describe(options::Schema& schema) {
    schema.positional(1);
    schema.section("What is forecast")
        .text("to", "N[,N]", std::nullopt, "numbers of ranks (default: 2 and 4 times the largest)")
        .essential()
        .choice("scaling", {"strong", "weak"}, std::nullopt,
                "strong: all ranks share the work; weak: each has its own (default: that of the "
                "longest curve; --points: strong where the time falls, weak for rates)")
        .essential()
        .choice(
            "by", {"curve", "mechanism", "auto"}, "auto",
            "curve: through measured points; mechanism: by simulating a step of measured parts; "
            "auto: mechanism where an option of What if is given, otherwise curve")
        .essential()
        .flag("force",
              "forecast beyond 4 times the largest point, or 64 times the ranks by mechanism, too")
        .flag("validate",
              "forecast the published curves from a quarter of their scale, and print the errors")
        .excludes({.other = "format", .values = {"json"}, .because = "it writes tables"})
        .excludes_each({"points"}, "it forecasts the published curves");
    schema.section("From what")
        .texts("where", "CONDITION",
               "only runs that meet this condition, as in ranklab report; may be given several "
               "times")
        .essential()
        .text("label", "TEXT", std::nullopt, "only runs of exactly this --label")
        .text("points", "FILE.csv", std::nullopt,
              "in place of runs: columns ranks, and time_s or rate; optionally low and high (of a "
              "95 % interval) and nodes; repeated rows are repeated measurements")
        .essential()
        .excludes_each({"where", "label"}, "points come from a file, not from runs")
        .excludes_each(
            {"accumulate", "bucket-cap-mb", "precision", "sync", "batch-size", "ranks-per-node"},
            "points are forecast by curve")
        .excludes({.other = "by", .values = {"mechanism"}, .because = "it simulates stored runs"});
    constexpr std::int64_t kMost = 1'000'000'000;
    schema.section("What if")
        .integer("accumulate", {1, kMost}, std::nullopt, "micro-batches a step")
        .bind(&WhatIf::accumulate)
        .real("bucket-cap-mb", {0.001, 1e6}, std::nullopt, "MiB of gradients in a bucket")
        .bind(&WhatIf::bucket_cap_mb)
        .choice("precision", {"fp32", "tf32", "bf16", "fp16", "fp64"}, std::nullopt,
                "that of the runs, which must have been measured")
        .bind(&WhatIf::precision)
        .choice("sync", {"bucketed", "flat", "none"}, std::nullopt, "how gradients are reduced")
        .bind(&WhatIf::sync)
        .integer("batch-size", {1, kMost}, std::nullopt,
                 "samples per rank and micro-batch; with --scaling strong of all of them")
        .bind(&WhatIf::batch_size)
        .integer("ranks-per-node", {1, kMost}, std::nullopt,
                 "ranks on a host (default: the most that were measured)")
        .bind(&WhatIf::ranks_per_node);
    schema.section("How")
        .choice("format", {"text", "json", "csv", "markdown"}, "text", "how it is written")
        .essential();
    describe_report_output(schema);
}

}  // namespace

int run_predict(int argc, char** argv) {
    return run_plain_program(argc, argv, kText, describe, show);
}

}  // namespace ranklab::app
