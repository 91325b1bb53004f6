#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"

namespace ranklab::app {
namespace {

using options::Options;

const ProgramText kText{
    "compare", "A B [options]",
    "Is B different from A? A and B are results files, or labels or revisions (label:TEXT, "
    "rev:HEX) of the runs\n"
    "of one file (--file). The unit is the run: at least 5 runs a side, better 9 or more, measured "
    "in turn.",
    "  ranklab compare old.h5 new.h5                                 two files\n"
    "  ranklab compare label:before label:after                      two labels in "
    "results/ranklab.h5\n"
    "  ranklab compare --file ci.h5 rev:1a2b3c rev:4d5e6f            two revisions\n"
    "  ranklab compare old.h5 new.h5 --fail-on-regression 5%         a gate: exit 4 where B is "
    "worse by 5 %\n"
    "  ranklab compare old.h5 new.h5 --ignore hosts --format markdown\n"
    "Here exit code 4 is a regression (--fail-on-regression), 2 also runs that must\n"
    "not be compared, and 7 that no verdict is possible (no usable run, or\n"
    "--inconclusive fail).\n"};

// "5%", "2.5 %".
double fraction(const std::string& option, const std::string& text) {
    const auto value = base::percentage_in(text);
    if (!value || !(*value > 0 && *value < 100))
        throw base::OptionError(
            fmt::format("--{} {}: give a part of the value in per cent, as in --{} 5%", option,
                        base::printable(text, 40), option));
    return *value / 100;
}

// All values of an option that may be given several times with a list each: "--ignore hosts,mpi
// --ignore lr".
std::vector<std::string> listed(const Options& options, const std::string& name) {
    std::vector<std::string> words;
    for (const auto& text : options.texts(name)) {
        for (const auto& part : base::split(text, ',')) {
            if (const auto word = base::trim(part); !word.empty()) words.push_back(word);
        }
    }
    return words;
}

double min_effect_of(const Options& options) {
    if (!options.has("fail-on-regression"))
        return fraction("min-effect", options.text("min-effect"));
    const double gate = fraction("fail-on-regression", options.text("fail-on-regression"));
    if (options.is_set("min-effect") && fraction("min-effect", options.text("min-effect")) != gate)
        throw base::OptionError(
            "--fail-on-regression also sets the smallest change of interest; leave --min-effect "
            "out");
    return gate;
}

report::compare::CompareQuery sides_of(const Options& options) {
    if (options.positional().size() != 2)
        throw base::OptionError(
            "compare needs two sides, A and B: ranklab compare old.h5 new.h5, or two labels of one "
            "file");
    return {options.positional()[0], options.positional()[1], options.text("file"),
            options.texts("where")};
}

std::string written(const report::compare::Comparison& comparison,
                    const report::compare::Gate& gate, const std::string& format) {
    if (format == "json") return report::compare::comparison_json(comparison, gate);
    if (format == "markdown") return report::compare::comparison_markdown(comparison, gate);
    return report::compare::comparison_text(comparison, gate);
}

int show(const Options& options) {
    const report::compare::CompareOptions how{min_effect_of(options), listed(options, "measure"),
                                              listed(options, "ignore"),
                                              options.flag("with-unverified")};
    const report::compare::Gate gate{options.has("fail-on-regression"),
                                     options.text("inconclusive") == "fail"};
    const auto [a, b] = report::compare::read_sides(sides_of(options));
    const auto comparison = report::compare::compare(a, b, how);
    ReportOutput output(options.text_or("output", ""));
    output.write(written(comparison, gate, options.text("format")));
    output.commit();
    // A gate without a verdict says so on stderr too, for those who do not read the report.
    if (gate.fail_on_regression && comparison.inconclusive() > 0)
        base::log::warn("the gate " + report::compare::gate_line(comparison, gate));
    return report::compare::exit_code_of(comparison, gate);
}

void describe(options::Schema& schema) {
    schema.positional(2);
    schema.section("Which runs")
        .text("file", "FILE", "results/ranklab.h5",
              "the results file in which to look up labels and revisions")
        .texts("where", "CONDITION",
               "only runs of both sides that meet this condition, as in ranklab report: "
               "model=mnist-cnn, ranks>=2; may be given several times")
        .texts("ignore", "KEY,...",
               "settings or facts that may differ between A and B: hosts, libraries.mpi, host.*")
        .formerly("allow")
        .flag("with-unverified", "also count runs of which nothing was verified");
    schema.section("What is asked")
        .texts("measure", "NAME,...|all",
               "measurements to compare (default: the headline ones of the command)")
        .text("min-effect", "P%", "3%",
              "the smallest change of interest: to find 5 % for sure, say 3 %")
        .formerly("smallest")
        .text("fail-on-regression", "P%", std::nullopt,
              "exit with 4 if a measurement is worse by this much, which is then also the smallest "
              "change of interest")
        .choice("inconclusive", {"pass", "fail"}, "pass",
                "what the gate does without a verdict: print a line, or exit with 7");
    schema.section("How").choice("format", {"text", "json", "markdown"}, "text",
                                 "how it is written");
    describe_report_output(schema);
}

}  // namespace

int run_compare(int argc, char** argv) {
    return run_plain_program(argc, argv, kText, describe, show);
}

}  // namespace ranklab::app
