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
#include "vocabulary/tables.hpp"

namespace ranklab::app {
namespace {

using namespace options::marks;
using report::predict::Prediction;
using report::predict::WhatIf;

constexpr const char* kDefaultFile = "results/ranklab.h5";

struct PredictSettings {
    std::string file = kDefaultFile;  // the positional word
    std::optional<std::string> to, scaling, label, points, output;
    std::string by = "auto", format = "text";
    bool force = false, validate = false;
    std::vector<std::string> where;
    std::optional<std::int64_t> ranks_per_node;
    WhatIf what_if;  // from the options bound to WhatIf

    bool by_mechanism() const { return by == "mechanism" || (by == "auto" && what_if != WhatIf{}); }
};

std::optional<forecast::Scaling> scaling_of(const PredictSettings& asked) {
    if (!asked.scaling) return std::nullopt;
    return *asked.scaling == "weak" ? forecast::Scaling::weak : forecast::Scaling::strong;
}

// The numbers of --to; by default twice and four times `largest`.
std::vector<double> targets(const PredictSettings& asked, double largest) {
    if (!asked.to) return {2 * largest, 4 * largest};
    std::vector<double> ranks;
    for (const auto& word : base::split(*asked.to, ',')) {
        const auto number = base::number_in(base::trim(word));
        if (!number || !(*number >= 1 && *number <= 1e9) || *number != std::floor(*number))
            throw base::OptionError(fmt::format("--to {}: give rank counts, such as --to 8,64",
                                                base::printable(*asked.to, 40)));
        ranks.push_back(*number);
    }
    return ranks;
}

std::string written(const PredictSettings& asked, report::Frame frame) {
    frame.drop_empty_columns();
    if (asked.format == "csv") return report::csv_of(frame);
    if (asked.format == "markdown") return report::markdown_of(frame);
    return report::text_of(frame);
}

report::model::ChosenRuns chosen_runs(const PredictSettings& asked) {
    report::model::ChosenRuns runs(results::ResultFile(asked.file),
                                   {.label = asked.label, .conditions = asked.where});
    if (!runs.everything() && runs.headers().empty())
        throw base::OptionError(base::trim(runs.nothing()));
    return runs;
}

std::vector<report::model::PublishedCurve> published_curves() {
    return report::model::read_published_curves(reference_folder() /
                                                report::model::kPublishedCurves);
}

Prediction by_mechanism(const PredictSettings& asked) {
    auto what_if = asked.what_if;
    what_if.strong = scaling_of(asked) == forecast::Scaling::strong;
    what_if.ranks_per_node = asked.ranks_per_node;
    const auto runs = report::predict::runs_for_mechanism(chosen_runs(asked));
    std::size_t largest = 1;
    for (const auto& run : runs) largest = std::max(largest, run.hosts.size());
    std::vector<std::size_t> ranks;
    for (const double one : targets(asked, base::real(largest)))
        ranks.push_back(static_cast<std::size_t>(one));
    return {.frame = report::predict::frame_of(
                report::predict::mechanism_forecast(runs, what_if, ranks, asked.force)),
            .scaling = what_if.strong ? forecast::Scaling::strong : forecast::Scaling::weak};
}

Prediction by_curve(const PredictSettings& asked) {
    auto measured = asked.points
                        ? report::predict::read_points(*asked.points, scaling_of(asked))
                        : report::predict::points_of(chosen_runs(asked), scaling_of(asked));
    if (asked.ranks_per_node) measured.per_node = base::real(*asked.ranks_per_node);
    return report::predict::predict(measured, report::model::sources_of(published_curves()),
                                    targets(asked, measured.points.back().ranks), asked.force);
}

std::string forecast_text(const PredictSettings& asked) {
    const auto found = asked.by_mechanism() ? by_mechanism(asked) : by_curve(asked);
    if (asked.format == "json") return report::predict::json_of(found);
    std::string text = written(
        asked, asked.format == "csv" ? found.frame : report::predict::for_people(found.frame));
    if (asked.format != "text") return text;
    return found.next.empty() ? text : text + "  next          " + found.next + "\n";
}

std::string validation_text(const PredictSettings& asked) {
    const auto found = report::predict::validate(published_curves());
    if (asked.format == "csv") return report::csv_of(found.curves);
    std::string text;
    for (const auto* frame : {&found.curves, &found.kinds}) text += written(asked, *frame) + "\n";
    return base::trim(text) + "\n";
}

PredictSettings settled(const options::Options& given) {
    auto asked = given.fields<PredictSettings>();
    asked.what_if = given.fields<WhatIf>();
    given.check_relations(asked, asked.what_if);
    if (asked.points && !given.positional().empty())
        throw base::OptionError("give a results file or --points, not both");
    if (!given.positional().empty()) asked.file = given.positional().front();
    if (asked.by == "curve" && asked.what_if != WhatIf{})
        throw base::OptionError("--by curve excludes the options of What if; leave one out");
    if (asked.to) targets(asked, 1);  // checks the numbers before the file is read
    return asked;
}

int show(const options::Options& given, const Words& /*words*/) {
    const auto asked = settled(given);
    write_report(asked.output, [&](const auto& sink) {
        sink(asked.validate ? validation_text(asked) : forecast_text(asked));
    });
    return 0;
}

options::Schema rows() {
    using S = PredictSettings;
    constexpr std::int64_t kMost = 1'000'000'000;
    options::Schema schema;
    schema.positional(1);
    schema.no_option({"ranks"}, "--to N,N gives the rank counts to forecast");
    schema.section("What is forecast")
        .text("to", {&S::to, kEssential}, "N[,N]",
              "rank counts to forecast (default: 2 and 4 times the largest)")
        .choice("scaling", {&S::scaling, kEssential}, {"strong", "weak"},
                "strong: all ranks share the work; weak: each rank has its own (default: as the "
                "longest curve; with --points strong if the time falls, weak for rates)")
        .choice("by", {&S::by, kEssential}, {"curve", "mechanism", "auto"},
                "curve: fit measured points; mechanism: simulate a step from its measured parts; "
                "auto: mechanism with an option of What if, otherwise curve")
        .flag("force", &S::force,
              "also forecast beyond 4 times the largest point (by mechanism: 64 times)")
        .flag("validate", &S::validate,
              "forecast the published curves from a quarter of their scale, and print the errors");
    schema.section("From what")
        .texts("where", {&S::where, kEssential}, "CONDITION",
               "only runs that meet this condition, as in ranklab report; may be given several "
               "times")
        .text("label", &S::label, "TEXT", "only runs of exactly this --label")
        .text("points", {&S::points, kEssential}, "FILE.csv",
              "a CSV of points instead of runs: columns ranks, time_s or rate, optionally low and "
              "high (of a 95 % interval) and nodes; rows of equal ranks are repetitions");
    schema.integer("ranks-per-node", &S::ranks_per_node, {1, kMost},
                   "ranks that one node holds (default: as the points or runs say)");
    schema.section("What if")
        .integer("accumulate", &WhatIf::accumulate, {1, kMost}, "micro-batches per step")
        .real("bucket-cap-mb", &WhatIf::bucket_cap_mb, {0.001, 1e6},
              "size of gradient buckets in MiB")
        .choice("precision", &WhatIf::precision, {"fp32", "tf32", "bf16", "fp16", "fp64"},
                "a precision that was measured (default: the newest runs' precision)")
        .choice("sync", &WhatIf::sync, {"bucketed", "flat", "none"}, "how gradients are reduced")
        .integer("zero", &WhatIf::zero, {0, 3}, "stage of ZeRO (docs/sharding.md)")
        .integer("batch-size", &WhatIf::batch_size, {1, kMost},
                 "samples per rank and micro-batch; with --scaling strong over all ranks");
    schema.section("How").choice("format", {&S::format, kEssential},
                                 {"text", "json", "csv", "markdown"}, "output format");
    schema.text("output", &S::output, "FILE", kReportOutputHelp);
    vocabulary::relate(schema, "predict");
    return schema;
}

}  // namespace

int run_predict(int argc, char** argv) {
    return run_plain_program(argc, argv, {text_of_command("predict"), rows(), show});
}

}  // namespace ranklab::app
