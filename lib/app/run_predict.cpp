#include <fmt/format.h>

#include <cmath>
#include <filesystem>
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
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using options::Options;
using report::predict::Prediction;

const ProgramText kText{
    "predict", "[FILE] [options]",
    "Forecasts the time on more ranks from stored runs, with 95 % intervals, or says why it cannot "
    "and which run would mend that. FILE: results/ranklab.h5 where none is named.",
    "  ranklab predict results/ranklab.h5 --to 8,64               from its longest scaling curve\n"
    "  ranklab predict --where model=resnet18 --scaling weak      twice and four times the "
    "largest\n"
    "  ranklab predict --points times.csv --to 64 --format json   columns ranks,time_s\n"
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

report::predict::Measured measured_of(const Options& options) {
    if (options.has("points"))
        return report::predict::read_points(options.text("points"), scaling_of(options));
    report::model::Choice choice;
    if (options.has("label")) choice.label = options.text("label");
    choice.conditions = options.texts("where");
    const auto& words = options.positional();
    return report::predict::points_of(
        {results::ResultFile(words.empty() ? "results/ranklab.h5" : words.front()),
         std::move(choice)},
        scaling_of(options));
}

std::string written(const Options& options, const report::Frame& frame) {
    if (options.is("format", "csv")) return report::csv_of(frame);
    if (options.is("format", "markdown")) return report::markdown_of(frame);
    return report::text_of(frame);
}

std::string forecast_text(const Options& options) {
    auto measured = measured_of(options);
    const auto ranks = targets(options, measured.points.back().ranks);
    const Prediction found =
        report::predict::predict(std::move(measured), ranks, options.flag("force"));
    if (options.is("format", "json")) return report::predict::json_of(found);
    std::string text = written(options, report::predict::frame_of(found));
    if (options.is("format", "text") && !found.next.empty())
        text += fmt::format("  next          {}\n", found.next);
    return text;
}

std::string validation_text(const Options& options) {
    const auto found = report::predict::validate(
        report::model::read_published_curves(reference_folder() / report::model::kPublishedCurves));
    if (!options.is("format", "text")) return written(options, found.curves);
    return report::text_of(found.curves) + "\n" + report::text_of(found.refused) + "\n" +
           report::text_of(found.families);
}

int show(const Options& options) {
    options.check_relations();
    ReportOutput output(options.text_or("output", ""));
    output.write(options.flag("validate") ? validation_text(options) : forecast_text(options));
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
                "longest curve; --points: strong where the time falls)")
        .essential()
        .flag("force", "forecast beyond 4 times the largest point, too")
        .flag("validate",
              "forecast the published curves from a quarter of their scale, and print the errors");
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
        .excludes_each({"where", "label"}, "points are no runs");
    schema.section("How")
        .choice("format", {"text", "json", "csv", "markdown"}, "text", "how it is written")
        .essential()
        .text("output", "FILE", std::nullopt,
              "write into this file, whole or not at all, instead of to stdout");
}

}  // namespace

int run_predict(int argc, char** argv) {
    prepare_process();
    options::Schema schema;
    describe(schema);
    return guarded(
        [&] { return run_plain_command(schema, kText, arguments_of(argc, argv), show); });
}

}  // namespace ranklab::app
