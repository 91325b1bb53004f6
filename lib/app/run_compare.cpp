#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"

namespace ranklab::app {
namespace {

struct CompareSettings {
    std::string file = "results/ranklab.h5", format = "text";
    Words where, ignore, measure;
    bool with_unverified = false, strict = false;
    std::optional<std::string> min_effect, fail_on_regression, output;
};

// Splits the lists of a repeated option: "--ignore hosts,mpi --ignore lr".
Words listed(const Words& texts) {
    Words words;
    for (const auto& text : texts)
        for (const auto& part : base::split(text, ','))
            if (const auto word = base::trim(part); !word.empty()) words.push_back(word);
    return words;
}

double min_effect_of(const CompareSettings& asked) {
    if (!asked.fail_on_regression)
        return asked.min_effect ? options::fraction("min-effect", *asked.min_effect)
                                : stats::kMinEffect;
    const double gate = options::fraction("fail-on-regression", *asked.fail_on_regression);
    if (asked.min_effect && options::fraction("min-effect", *asked.min_effect) != gate)
        throw base::OptionError(
            "--fail-on-regression also sets the smallest change of interest; leave --min-effect "
            "out");
    return gate;
}

std::string written(const report::compare::Comparison& comparison,
                    const report::compare::Gate& gate, const std::string& format) {
    if (format == "json") return report::compare::comparison_json(comparison, gate);
    if (format == "markdown") return report::compare::comparison_markdown(comparison, gate);
    return report::compare::comparison_text(comparison, gate);
}

int show(const options::Options& given, const Words& /*words*/) {
    const auto asked = given.fields<CompareSettings>();
    const auto& sides = given.positional();
    // If both sides are labels, an option that differs between them is taken as intended.
    const bool by_label = sides[0].starts_with("label:") && sides[1].starts_with("label:");
    const report::compare::Gate gate{asked.fail_on_regression.has_value(), asked.strict};
    const report::compare::CompareOptions how{min_effect_of(asked), listed(asked.measure),
                                              listed(asked.ignore), asked.with_unverified,
                                              by_label && !gate.fail_on_regression};
    const auto a = report::compare::read_side(sides[0], asked.file, asked.where),
               b = report::compare::read_side(sides[1], asked.file, asked.where);
    const auto comparison = report::compare::compare(a, b, how);
    write_report(asked.output,
                 [&](const auto& sink) { sink(written(comparison, gate, asked.format)); });
    // A gate without a verdict also says so on stderr, for users who do not read the report.
    if (gate.fail_on_regression && comparison.inconclusive() > 0)
        base::log::warn("the gate " + report::compare::gate_line(comparison, gate));
    return report::compare::exit_code_of(comparison, gate);
}

options::Schema rows() {
    using S = CompareSettings;
    options::Schema schema;
    schema.positional(2, 2);
    schema.section("Which runs")
        .text("file", &S::file, "FILE", "the results file in which to look up labels and revisions")
        .texts("where", &S::where, "CONDITION",
               "only runs of both sides that meet this condition, as in ranklab report: "
               "model=mnist-cnn, ranks>=2; may be given several times")
        .texts("ignore", &S::ignore, "KEY,...",
               "settings or facts that may differ between A and B: hosts, libraries.mpi, host.*")
        .formerly("allow")
        .flag("with-unverified", &S::with_unverified, "also count runs without a passed check");
    schema.section("What to compare")
        .texts("measure", &S::measure, "NAME,...|all",
               "measurements to compare (default: the headline ones of the command)")
        .text("min-effect", &S::min_effect, "P%",
              fmt::format("the smallest change of interest; to find a change of 5 % reliably, give "
                          "3 % (default: {:g}%)",
                          100 * stats::kMinEffect))
        .formerly("smallest")
        .text("fail-on-regression", &S::fail_on_regression, "P%",
              "exit with 4 if a measurement is worse by this much; also sets --min-effect")
        .flag("strict", &S::strict,
              "exit with 7 if a measurement has no verdict: too noisy, too few runs, other load");
    schema.section("How").choice("format", &S::format, {"text", "json", "markdown"},
                                 "output format");
    schema.text("output", &S::output, "FILE", kReportOutputHelp);
    return schema;
}

}  // namespace

int run_compare(int argc, char** argv) {
    return run_plain_program(argc, argv, {text_of_command("compare"), rows(), show});
}

}  // namespace ranklab::app
