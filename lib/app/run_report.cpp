#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/figures/figure.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/readable.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/network.hpp"
#include "report/model/reference.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "results/result_file.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;
using options::Options;
using report::model::ChosenRuns;
using report::model::Sink;

const ProgramText kText{
    "report", "[FILE] [options]",
    "Shows what a results file holds: for a person, or for a program. FILE: results/ranklab.h5 "
    "where none is named.",
    "  ranklab report                                       the newest runs, and the last one\n"
    "  ranklab report results/ranklab.h5 --run ID           one run\n"
    "  ranklab report results/ranklab.h5 --where model=mnist-cnn --where 'ranks>=2' --group-by "
    "ranks,sync\n"
    "                                                       a row for each, with speedup and "
    "efficiency\n"
    "  ranklab report results/ranklab.h5 --group-by ranks --format markdown --output scaling.md\n"
    "  ranklab report results/ranklab.h5 --format json      everything, for a program\n"
    "  ranklab report results/ranklab.h5 --label night --format gbench    for Google Benchmark's "
    "compare.py\n"
    "  ranklab report results/ranklab.h5 --last 1 --format chrome-trace --output steps.json   for "
    "Perfetto\n"
    "  ranklab report results/ranklab.h5 --why              what limits the newest training run\n"
    "  ranklab report results/ranklab.h5 --plots plots      every figure, drawn by gnuplot\n"};

constexpr std::string_view kPhases = "phases";  // of --measure
constexpr std::size_t kListed = 12;             // in a list; more would hide the run below it
constexpr const char* kDefaultFile = "results/ranklab.h5";

std::vector<std::string> listed(const Options& options, const std::string& name,
                                const std::string& fallback = "") {
    const std::string text = options.text_or(name, fallback);
    return text.empty() ? std::vector<std::string>() : base::split(text, ',');
}

// The word for the phases of the step becomes the phases that the runs have, in the order in which
// they happen.
std::vector<std::string> measurements_asked(const Options& options) {
    std::vector<std::string> names;
    for (const auto& name : listed(options, "measure")) {
        if (name != kPhases)
            names.push_back(name);
        else
            for (const auto* phase :
                 vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)))
                names.emplace_back(phase->name);
    }
    return names;
}

report::model::Groups groups_of(const ChosenRuns& runs, const Options& options,
                                const std::string& otherwise) {
    return report::model::Groups(
        report::model::runs_frame(runs, {listed(options, "group-by", otherwise),
                                         measurements_asked(options), listed(options, "ignore")}));
}

bool asks_for_groups(const Options& options) {
    return options.has("group-by") || options.has("measure");
}

std::string file_of(const Options& options) {
    return options.positional().empty() ? kDefaultFile : options.positional().front();
}

// Figures that others published of the same experiment.
std::string published(const results::Run& run) {
    const auto references = report::model::read_references(reference_folder());
    for (const auto& problem : references.problems) base::log::warn(problem);
    return report::model::reference_lines(run, references);
}

// The time that the network alone needs for the buckets of a training run.
std::string network(const ChosenRuns& runs, const results::Run& run) {
    if (!report::model::has_bucket_times(run)) return "";
    const auto cost = report::model::network_cost(runs.file(), run);
    return cost ? cost->text()
                : fmt::format(
                      "not measured; mpirun -n {} ranklab comm --from-model {} --output {} would "
                      "measure it",
                      run.hosts.size(), run.setting("model"),
                      base::shell_path(runs.file().path().string()));
}

std::string whole(const ChosenRuns& runs, const results::Run& run, const Options& options) {
    return report::formats::run_text(run, options.flag("verbose"), network(runs, run)) +
           published(run) +
           (options.flag("verbose") ? "" : "  --verbose shows all that it measured\n");
}

void write_text(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    if (runs.headers().empty()) return sink(runs.nothing());
    if (asks_for_groups(options))
        return sink(report::formats::groups_text(groups_of(runs, options, "id")));
    if (!runs.choice().id.empty())
        return sink(whole(runs, runs.file().read(runs.choice().id), options));
    const auto headers = runs.headers();
    const std::size_t shown = options.is_set("last") ? headers.size() : kListed;
    const auto list = report::model::list_runs(runs.file(), headers, shown);
    sink(report::formats::runs_text(
        list, headers.size(), runs.text(),
        fmt::format("ranklab report {} --run", base::shell_path(file_of(options)))));
    sink(fmt::format("\n{}", whole(runs, runs.file().read(headers.back().id), options)));
}

// Without keys a row is a command and label, which says little but is never thousands of rows.
void write_markdown(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    sink(report::formats::groups_markdown(groups_of(runs, options, "command,label"), runs.text()));
}

void write_latex(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    sink(report::formats::groups_latex(groups_of(runs, options, "command,label"), runs.text()));
}

void write_json(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    if (asks_for_groups(options))
        return sink(report::formats::groups_json(groups_of(runs, options, "id")));
    report::formats::write_json(runs, sink);
}

void write_csv(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    if (asks_for_groups(options))
        return sink(report::formats::groups_csv(groups_of(runs, options, "id")));
    report::formats::write_csv(runs, sink);
}

// The newest chosen run of that command; OptionError with the sentence where there is none.
results::Run newest_of(const ChosenRuns& runs, const char* command, bool only_valid,
                       const char* otherwise) {
    const auto headers = runs.headers();
    const auto newest = std::find_if(headers.rbegin(), headers.rend(), [&](const auto& run) {
        return run.command == command && (run.valid || !only_valid);
    });
    if (newest == headers.rend()) throw base::OptionError(otherwise, {"where", "run"});
    return runs.file().read(newest->id);
}

void write_nccl_tests(const ChosenRuns& runs, const Options&, const Sink& sink) {
    sink(report::formats::nccl_text(newest_of(
        runs, "comm", false, "nccl-tests' table is of runs of comm, and none was chosen")));
}

void write_extrap(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    report::formats::write_extrap(runs, listed(options, "group-by"), sink);
}

void write_chrome_trace(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    report::formats::write_chrome_trace(
        runs, static_cast<std::size_t>(options.integer("trace-steps")), sink);
}

void write_why(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    const auto found = report::diagnosis::diagnose(
        newest_of(runs, "train", true,
                  "a diagnosis is of a valid training run, and none was chosen"),
        runs.file());
    sink(options.is("format", "json") ? json_of(found) + '\n' : text_of(found));
}

void write_html(const ChosenRuns& runs, const Options&, const Sink& sink) {
    sink(report::page::html_page(runs, reference_folder()));
}

void write_proposal(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    const auto centre = report::page::centre_of(
        shipped("configs/centres.ini", "configs/centres.ini"), options.text_or("centre", ""));
    sink(report::page::proposal(runs, centre, options.integer_or("planned-steps", 0),
                                options.text("format")));
}

void write_against_published(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    const report::model::Groups groups = groups_of(runs, options, "");
    const auto frame = report::page::placed_among(
        report::model::read_published_curves(reference_folder() / report::model::kPublishedCurves),
        report::figures::scaling_over_ranks({groups, runs.file(), {}}));
    sink(options.is("format", "csv") ? csv_of(frame) : text_of(frame));
}

struct Format {
    const char* name;
    void (*write)(const ChosenRuns&, const Options&, const Sink&);
};

// A format is one line here, and says nothing on stdout unless it succeeds.
constexpr std::array kFormats{
    Format{"text", write_text},
    Format{"html", write_html},
    Format{"json", write_json},
    Format{"csv", write_csv},
    Format{"markdown", write_markdown},
    Format{"latex", write_latex},
    Format{"nccl-tests", write_nccl_tests},
    Format{"gbench", [](const ChosenRuns& runs, const Options&,
                        const Sink& sink) { report::formats::write_gbench(runs, sink); }},
    Format{"extrap", write_extrap},
    Format{"chrome-trace", write_chrome_trace},
};

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const auto& format : kFormats) names.emplace_back(format.name);
    return names;
}

void write_plots(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    const report::model::Groups groups(report::model::runs_frame(runs, {}));
    for (const auto& [path, title] :
         report::figures::plot({groups, runs.file(), {}}, options.text("plots")))
        sink(base::wrapped(path.string() + "  ", base::one_line(title)));
    sink("and beside each: pdf, png, csv, tex, the gnuplot script\n");
}

ChosenRuns chosen_runs(const Options& options) {
    report::model::Choice choice;
    choice.id = options.text_or("run", "");
    if (options.has("label")) choice.label = options.text("label");
    if (options.has("last")) choice.last = static_cast<std::size_t>(options.integer("last"));
    choice.conditions = options.texts("where");
    return {results::ResultFile(file_of(options)), std::move(choice)};
}

// Refuses options that would have no effect.
void refuse_what_has_no_effect(const Options& options) {
    options.check_relations();
    if (options.has("group-by") && options.text("group-by").empty())
        throw base::OptionError("--group-by names no key; give some, such as ranks,sync");
    const bool groups = options.is("format", "markdown") || options.is("format", "latex") ||
                        asks_for_groups(options);
    if (options.has("ignore") && !groups)
        throw base::OptionError("--ignore is for tables: give --group-by with it");
}

int show(const Options& options) {
    refuse_what_has_no_effect(options);
    const ChosenRuns runs = chosen_runs(options);
    report::model::refuse_unknown_keys(listed(options, "group-by"), {runs.file()});
    report::model::refuse_unknown_measurements(measurements_asked(options), {runs.file()});
    ReportOutput output(options.text_or("output", ""));
    const Sink sink = [&](std::string_view text) { output.write(text); };
    if (options.has("plots")) {
        write_plots(runs, options, sink);
    } else if (options.flag("proposal")) {
        write_proposal(runs, options, sink);
    } else if (options.flag("against-published")) {
        write_against_published(runs, options, sink);
    } else if (options.flag("why")) {
        write_why(runs, options, sink);
    } else {
        for (const auto& format : kFormats)
            if (options.text("format") == format.name) format.write(runs, options, sink);
    }
    // On stderr, since what a program reads has no place for it.
    if (!options.is("format", "text") && !options.is("format", "html") && !runs.everything() &&
        runs.headers().empty())
        base::log::warn(base::printable(base::trim(runs.nothing()), 400));
    output.commit();
    return 0;
}

void describe(options::Schema& schema) {
    schema.positional(1);
    schema.section("What to show")
        .text("run", "ID", std::nullopt, "one run instead of all")
        .essential()
        .texts("where", "CONDITION",
               "only runs that meet this condition: model=mnist-cnn, sync!=none, ranks>=2, "
               "label=night*, model=a,b; a setting, ranks, nodes, command, label, valid, "
               "exit_code, cut_short, version, git_revision or a fact of the context such as "
               "host.kernel; may be given several times")
        .essential()
        .text("label", "TEXT", std::nullopt, "only runs of exactly this --label")
        .essential()
        .integer("last", 1, std::nullopt,
                 "only the last N of the runs that the other options leave")
        .essential();
    schema
        .flag("why",
              "what limits a training run (the newest one, or that of --run), and what to try")
        .essential()
        .needs({.other = "format", .values = {"text", "json"}})
        .excludes_each({"group-by", "measure", "plots"});
    schema.section("Tables")
        .text("group-by", "KEY[,KEY]", std::nullopt,
              "a row for each of these keys' values instead of a list, with medians and "
              "intervals over its runs; with `ranks`, `threads` or `workers` among the keys "
              "speedup and efficiency per core, too. extrap: the parameters (default: ranks, "
              "written as p)")
        .essential()
        .needs(
            {.other = "format", .values = {"text", "markdown", "json", "extrap", "latex", "csv"}})
        .excludes({.other = "plots"})
        .text("ignore", "KEY[,KEY]", std::nullopt,
              "pool runs although they differ in these surroundings (hosts, host.cpu, "
              "git_revision, a beginning with *); by default each has its own row")
        .formerly("allow")
        .needs({.other = "format", .values = {"text", "markdown", "json", "latex", "csv"}})
        .excludes({.other = "plots"})
        .text(
            "measure", "NAME[,NAME]", std::nullopt,
            "these measurements; phases: all phases of the step (default: "
            "throughput_samples_per_s, step_time_s, job_time_s, write_MiBps, whichever there are)")
        .essential()
        .needs({.other = "format", .values = {"text", "markdown", "json", "latex", "csv"}})
        .excludes({.other = "plots"});
    schema.section("Scaling")
        .flag("proposal",
              "a scaling section for a proposal, as HTML or by --format markdown, latex")
        .essential()
        .needs({.other = "format", .values = {"text", "html", "markdown", "latex"}})
        .excludes_each({"plots", "group-by", "measure", "against-published"})
        .text("centre", "NAME", std::nullopt,
              "proposal: with the threshold of a computing centre (configs/centres.ini)")
        .needs({.other = "proposal"})
        .integer("planned-steps", 1, std::nullopt,
                 "proposal: the node-hours of N steps at the largest scale above the threshold")
        .needs({.other = "proposal"})
        .flag("against-published", "your scaling over ranks among published curves of its kind")
        .essential()
        .needs({.other = "format", .values = {"text", "csv"}})
        .excludes_each({"plots", "group-by", "measure"});
    schema.section("How")
        .choice("format", format_names(), "text", "how it is written")
        .essential()
        .flag("verbose", "text: all that the run measured, and its tables")
        .essential()
        .integer("trace-steps", 1, "200", "chrome-trace: at most N steps of each run")
        .needs({.other = "format", .values = {"chrome-trace"}});
    describe_report_output(schema)
        .essential()
        .text("plots", "DIR", std::nullopt,
              "draw every figure into DIR (gnuplot), as svg, pdf and png, with its numbers")
        .essential()
        .excludes({.other = "format", .because = "it draws pictures and no report"});
}

}  // namespace

int run_report(int argc, char** argv) {
    return run_plain_program(argc, argv, kText, describe, show);
}

}  // namespace ranklab::app
