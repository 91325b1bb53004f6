#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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
#include "report/history/history.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/reference.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "results/result_file.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;
using namespace options::marks;
using report::model::ChosenRuns;
using report::model::Sink;

constexpr std::string_view kPhases = "phases";  // a value of --measure
constexpr std::size_t kListed = 12;             // runs in a list; more would hide the text below it
constexpr const char* kDefaultFile = "results/ranklab.h5";

struct ReportSettings {
    std::string file = kDefaultFile;  // the positional word
    Words where;
    std::optional<std::string> run, label;
    std::optional<std::int64_t> last;
    bool why = false, history = false, proposal = false, against_published = false, verbose = false;
    std::optional<std::string> group_by, ignore, measure, centre;
    std::optional<std::string> min_effect, fail_on_regression, expect;
    std::optional<std::int64_t> planned_steps;
    std::string format = "text";
    std::int64_t trace_steps = 200;
    std::optional<std::string> output, plots;

    bool asks_for_groups() const { return group_by || measure; }
};

Words listed(const std::optional<std::string>& text, const std::string& fallback = "") {
    const std::string& list = text ? *text : fallback;
    return list.empty() ? Words() : base::split(list, ',');
}

// Replaces the word "phases" by the phases of a step, in the order in which they happen.
Words measurements_asked(const ReportSettings& asked) {
    Words names;
    for (const auto& name : listed(asked.measure)) {
        if (name != kPhases)
            names.push_back(name);
        else
            for (const auto* phase :
                 vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)))
                names.emplace_back(phase->name);
    }
    return names;
}

report::model::Groups groups_of(const ChosenRuns& runs, const ReportSettings& asked,
                                const std::string& default_keys) {
    return {
        runs,
        {listed(asked.group_by, default_keys), measurements_asked(asked), listed(asked.ignore)}};
}

std::string whole(const results::Run& run, const ReportSettings& asked) {
    return report::formats::run_text(run, asked.verbose) +
           report::model::reference_lines(run, report::model::read_references(reference_folder())) +
           (asked.verbose ? "" : "  --verbose shows all that it measured\n");
}

void write_text(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    if (!runs.choice().id.empty()) {
        const auto run = runs.file().read(runs.choice().id);
        sink(whole(run, asked));
        for (const auto& caveat : report::model::caveats_of(run))  // lists have footnotes for these
            sink(report::formats::screen_line("note", sentence(caveat)));
        return;
    }
    const auto headers = runs.headers();
    const std::size_t shown = asked.last ? headers.size() : kListed;
    const auto list = report::model::list_runs(runs.file(), headers, shown);
    sink(report::formats::runs_text(
        list, headers.size(), runs.text(),
        fmt::format("ranklab report {} --run", base::shell_path(asked.file))));
    sink(fmt::format("\n{}", whole(runs.file().read(headers.back().id), asked)));
}

void write_extrap(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    report::formats::write_extrap(runs, listed(asked.group_by), sink);
}

void write_chrome_trace(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    report::formats::write_chrome_trace(runs, static_cast<std::size_t>(asked.trace_steps), sink);
}

void write_why(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    const auto headers = runs.headers();
    const auto newest = std::find_if(headers.rbegin(), headers.rend(), [](const auto& run) {
        return run.command == "train" && run.valid;
    });
    if (newest == headers.rend())
        throw base::OptionError("a diagnosis needs a valid training run, and none was chosen",
                                {"where", "run"});
    const auto found = report::diagnosis::diagnose(runs.file().read(newest->id), runs.file());
    sink(asked.format == "json" ? json_of(found) + '\n' : text_of(found));
}

// Returns the exit code.
int write_history(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    report::history::HistoryQuery query{.measurements = measurements_asked(asked),
                                        .ignore = listed(asked.ignore),
                                        .daily = asked.expect.has_value()};
    if (asked.min_effect) query.min_effect = options::fraction("min-effect", *asked.min_effect);
    const auto all = report::history::history_of(runs, query);
    if (asked.format == "text" && all.empty())
        sink(runs.headers().empty() ? runs.nothing()
                                    : "no valid run has one of these measurements\n");
    sink(report::history::written(all, asked.format));
    if (!asked.fail_on_regression) return 0;
    const auto worse = report::history::worse_by(
        all, options::fraction("fail-on-regression", *asked.fail_on_regression));
    if (worse.empty()) return 0;
    base::log::warn("worse: " + worse);
    return static_cast<int>(base::ExitCode::below_threshold);
}

void write_proposal(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    const auto centre = report::page::centre_of(
        shipped("configs/centres.ini", "configs/centres.ini"), asked.centre.value_or(""));
    sink(report::page::proposal(runs, centre, asked.planned_steps.value_or(0), asked.format));
}

void write_against_published(const ChosenRuns& runs, const ReportSettings& asked,
                             const Sink& sink) {
    const report::model::Groups groups = groups_of(runs, asked, "");
    const auto frame = report::page::placed_among(
        report::model::read_published_curves(reference_folder() / report::model::kPublishedCurves),
        report::figures::scaling_over_ranks({groups, runs.file(), {}}));
    if (frame.empty()) base::log::warn("no point can be compared; " + frame.notes.back());
    sink(asked.format == "csv" ? csv_of(frame) : text_of(frame));
}

// How a format writes runs and groups of runs. Null `write`: always groups; null `groups`: never.
struct Format {
    const char* name;
    void (*write)(const ChosenRuns&, const ReportSettings&, const Sink&);
    std::string (*groups)(const report::model::Groups&, const std::string& chosen) = nullptr;
};

namespace formats = report::formats;

// Adapts a writer that takes no options.
template <void (*kWrite)(const ChosenRuns&, const Sink&)>
void plain(const ChosenRuns& runs, const ReportSettings&, const Sink& sink) {
    kWrite(runs, sink);
}

// All formats. A new format is one line here.
constexpr std::array kFormats{
    Format{"text", write_text, formats::groups_text},
    Format{"html",
           [](const ChosenRuns& runs, const ReportSettings&, const Sink& sink) {
               sink(report::page::html_page(runs, reference_folder()));
           }},
    Format{"json", plain<formats::write_json>, formats::groups_json},
    Format{"csv", plain<formats::write_csv>, formats::groups_csv},
    Format{"markdown", nullptr, formats::groups_markdown},
    Format{"latex", nullptr, formats::groups_latex},
    Format{"gbench", plain<formats::write_gbench>},
    Format{"extrap", write_extrap},
    Format{"chrome-trace", write_chrome_trace},
};

Words format_names() {
    Words names;
    for (const auto& format : kFormats) names.emplace_back(format.name);
    return names;
}

void write_plots(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    const report::model::Groups groups(runs, {.labels_apart = true});
    for (const auto& [path, title] : report::figures::plot({groups, runs.file(), {}}, *asked.plots))
        sink(base::wrapped(path.string() + "  ", base::one_line(title)));
    sink("and beside each: pdf, png, csv, tex, the gnuplot script\n");
}

ChosenRuns chosen_runs(const ReportSettings& asked) {
    return {results::ResultFile(asked.file),
            {asked.run.value_or(""), asked.label, asked.where,
             static_cast<std::size_t>(asked.last.value_or(0))}};
}

// Throws OptionError for options that would have no effect.
ReportSettings settled(const options::Options& given) {
    auto asked = given.fields<ReportSettings>();
    given.check_relations(asked);
    if (!given.positional().empty()) asked.file = given.positional().front();
    if (asked.group_by && asked.group_by->empty())
        throw base::OptionError("--group-by names no key; give some, such as ranks,sync");
    const bool groups =
        asked.format == "markdown" || asked.format == "latex" || asked.asks_for_groups();
    if (asked.ignore && !groups && !asked.history)
        throw base::OptionError("--ignore needs a table; give --group-by");
    return asked;
}

void write_asked(const ChosenRuns& runs, const ReportSettings& asked, const Sink& sink) {
    if (asked.plots) return write_plots(runs, asked, sink);
    if (asked.proposal) return write_proposal(runs, asked, sink);
    if (asked.against_published) return write_against_published(runs, asked, sink);
    if (asked.why) return write_why(runs, asked, sink);
    if (asked.format == "text" && runs.headers().empty()) return sink(runs.nothing());
    const auto& format = *std::ranges::find(kFormats, asked.format, &Format::name);
    if (format.groups == nullptr || (format.write != nullptr && !asked.asks_for_groups()))
        return format.write(runs, asked, sink);
    // The default of --group-by. A format that always groups does not take single runs: a file
    // may have thousands.
    const char* const keys = format.write == nullptr ? "command,label" : "id";
    sink(format.groups(groups_of(runs, asked, keys), runs.text()));
}

int show(const options::Options& given, const Words& /*words*/) {
    const auto asked = settled(given);
    const ChosenRuns runs = chosen_runs(asked);
    report::model::refuse_unknown_keys(listed(asked.group_by), runs.file());
    report::model::refuse_unknown_measurements(measurements_asked(asked), runs.file());
    int code = 0;
    write_report(asked.output, [&](const Sink& sink) {
        if (asked.history)
            code = write_history(runs, asked, sink);
        else
            write_asked(runs, asked, sink);
        // On stderr, since formats for programs have no place for the message.
        if (asked.format != "text" && asked.format != "html" && !runs.everything() &&
            runs.headers().empty())
            base::log::warn(base::printable(base::trim(runs.nothing()), 400));
    });
    return code;
}

options::Schema rows() {
    using S = ReportSettings;
    options::Schema schema;
    schema.positional(1);
    schema.section("What to show")
        .text("run", {&S::run, kEssential}, "ID", "one run instead of all")
        .texts("where", {&S::where, kEssential}, "CONDITION",
               "only runs that meet this condition, such as model=mnist-cnn, sync!=none, ranks>=2, "
               "label=night* or model=a,b; the name is a setting, ranks, nodes, command, label, "
               "valid, exit_code, cut_short, version, git_revision, or a fact of the context such "
               "as host.kernel; may be given several times")
        .text("label", {&S::label, kEssential}, "TEXT", "only runs of exactly this --label")
        .integer("last", {&S::last, kEssential}, 1,
                 "only the last N of the runs that the other options select");
    schema.flag("why", {&S::why, kEssential},
                "what limits the newest training run (or the one of --run), and what to try");
    schema.section("Tables")
        .text("group-by", {&S::group_by, kEssential}, "KEY[,KEY]",
              "one row per combination of these keys' values instead of a list of runs, with "
              "medians and intervals; with `ranks`, `threads` or `workers` among the keys also "
              "speedup and efficiency per core. --format extrap: the parameters (default: "
              "ranks, written as p)")
        .text("ignore", &S::ignore, "KEY[,KEY]",
              "pool runs although they differ in these surroundings (hosts, host.cpu, "
              "git_revision, host.*); by default runs that differ have separate rows")
        .formerly("allow")
        .text("measure", {&S::measure, kEssential}, "NAME[,NAME]",
              "measurements to show; phases: all phases of the step (default: those of "
              "throughput_samples_per_s, step_time_s, job_time_s, write_MiBps that the runs have)");
    schema.section("History")
        .flag("history", {&S::history, kEssential},
              "the runs of each configuration in the order of time: since when is it slower or "
              "faster, and what changed with it")
        .text("min-effect", &S::min_effect, "P%",
              fmt::format("history: the smallest step to name (default: {:g}%)",
                          100 * stats::kMinStep))
        .text("fail-on-regression", &S::fail_on_regression, "P%",
              "history: exit with 4 if the newest runs are worse by this much than those before "
              "the newest step")
        .choice("expect", &S::expect, {"daily"}, "history: name days without a valid run");
    schema.section("Scaling")
        .flag("proposal", {&S::proposal, kEssential},
              "a scaling section for a proposal, as HTML or by --format markdown, latex")
        .text(
            "centre", &S::centre, "NAME",
            "proposal: use the efficiency threshold of this computing centre (configs/centres.ini)")
        .integer("planned-steps", &S::planned_steps, 1,
                 "proposal: the node-hours of N steps at the largest scale above the threshold")
        .flag("against-published", {&S::against_published, kEssential},
              "compare your scaling over ranks with published curves of the same kind");
    schema.section("How")
        .choice("format", {&S::format, kEssential}, format_names(), "output format")
        .flag("verbose", {&S::verbose, kEssential}, "text: all measurements and tables of the run")
        .integer("trace-steps", &S::trace_steps, 1, "chrome-trace: at most N steps of each run");
    schema.text("output", {&S::output, kEssential}, "FILE", kReportOutputHelp)
        .text("plots", {&S::plots, kEssential}, "DIR",
              "draw every figure into DIR (gnuplot), as svg, pdf and png, with its numbers");
    vocabulary::relate(schema, "report");
    return schema;
}

}  // namespace

int run_report(int argc, char** argv) {
    return run_plain_program(argc, argv, {text_of_command("report"), rows(), show});
}

}  // namespace ranklab::app
