#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.hpp"
#include "app/guarded.hpp"
#include "app/programs.hpp"
#include "app/report_output.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/shell_path.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/figures/figure.hpp"
#include "report/formats/formats.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/reference.hpp"
#include "report/page/html.hpp"
#include "results/result_file.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;
using options::Options;
using report::model::ChosenRuns;
using report::model::Sink;

const ProgramText kText{
    "report", "FILE [options]", "Shows what a results file holds: for a person, or for a program.",
    "  ranklab report results/ranklab.h5                    the newest runs, and the last one whole\n"
    "  ranklab report results/ranklab.h5 --run ID           one run\n"
    "  ranklab report results/ranklab.h5 --where model=mnist-cnn --where 'ranks>=2' --group-by ranks,sync\n"
    "                                                       a row for each, with speedup and efficiency\n"
    "  ranklab report results/ranklab.h5 --group-by ranks --format markdown --output scaling.md\n"
    "  ranklab report results/ranklab.h5 --format json      everything, for a program\n"
    "  ranklab report results/ranklab.h5 --label night --format gbench    for Google Benchmark's compare.py\n"
    "  ranklab report results/ranklab.h5 --last 1 --format chrome-trace --output steps.json   for Perfetto\n"
    "  ranklab report results/ranklab.h5 --plots plots      training losses and the io ladder, drawn by "
    "gnuplot\n"};

constexpr std::string_view kPhases = "phases";  // of --measure
constexpr std::size_t kListed = 20;             // in a list; more would hide the run below it

std::vector<std::string> listed(const Options& options, const std::string& name,
                                const std::string& fallback = "") {
    const std::string text = options.text_or(name, fallback);
    return text.empty() ? std::vector<std::string>() : base::split(text, ',');
}

// The phases of the step stand for themselves: those that the runs have, in the order in which they happen.
std::vector<std::string> measurements_asked(const Options& options) {
    std::vector<std::string> names;
    for (const auto& name : listed(options, "measure")) {
        if (name != kPhases)
            names.push_back(name);
        else
            for (const auto* phase : vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)))
                names.emplace_back(phase->name);
    }
    return names;
}

report::formats::Grouping grouping_of(const Options& options, const std::string& otherwise) {
    return {listed(options, "group-by", otherwise), measurements_asked(options), listed(options, "allow")};
}

// Installed, or in the source tree that this was built in.
fs::path reference_folder() {
    if (const char* const folder = std::getenv("RANKLAB_REFERENCE")) return folder;
    std::error_code error;
    const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& folder : {bin / "../share/ranklab/reference", bin / "../../../results/reference"})
        if (fs::is_directory(folder, error)) return folder;
    return {};
}

// Figures that others published of the same experiment.
std::string published(const results::Run& run) {
    const auto references = report::model::read_references(reference_folder());
    for (const auto& problem : references.problems) base::log::warn(problem);
    return report::model::reference_lines(run, references);
}

std::string whole(const ChosenRuns& runs, const results::Run& run) {
    const std::string network =
        report::formats::network_line(runs.file(), run,
                                      fmt::format("`mpirun -n {} ranklab comm --from-model {}` would",
                                                  run.hosts.size(), run.setting("model")));
    return report::formats::run_text(run, runs.how_to(), network) + published(run);
}

void write_text(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    if (options.has("group-by") || options.has("measure"))
        return report::formats::write_group_text(runs, grouping_of(options, "id"), sink);
    if (!runs.choice().id.empty()) {
        const results::Run run = runs.file().read(runs.choice().id);
        return sink(whole(runs, run));
    }
    const auto headers = runs.headers();
    if (headers.empty()) return sink(runs.nothing());
    const std::size_t shown = options.is_set("last") ? headers.size() : kListed;
    const auto list = report::model::list_runs(runs.file(), headers, shown);
    sink(report::formats::runs_text(list, shown, runs.text(), runs.how_to()));
    const results::Run newest = runs.file().read(headers.back().id);
    sink(fmt::format("\n{}", whole(runs, newest)));
}

// Without keys a row is a command and label, which says little but is never thousands of rows.
void write_markdown(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    report::formats::write_group_markdown(runs, grouping_of(options, "command,label"), sink);
}

void write_json(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    if (options.has("group-by") || options.has("measure"))
        return report::formats::write_group_json(runs, grouping_of(options, "id"), sink);
    report::formats::write_json(runs, sink);
}

void write_extrap(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    report::formats::write_extrap(runs, grouping_of(options, "").keys, sink);
}

void write_chrome_trace(const ChosenRuns& runs, const Options& options, const Sink& sink) {
    const auto left_out = report::formats::write_chrome_trace(
        runs, static_cast<std::size_t>(options.integer("trace-steps")), sink);
    for (std::size_t i = 0; i < std::min(left_out.size(), kListed); ++i)
        base::log::warn(base::printable(left_out[i], 400));
    if (left_out.size() > kListed)
        base::log::warn(
            fmt::format("{} more runs are not drawn, for such reasons", left_out.size() - kListed));
}

void write_html(const ChosenRuns& runs, const Options&, const Sink& sink) {
    sink(report::page::html_page(runs, {.reference = reference_folder()}));
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
    Format{"csv", [](const ChosenRuns& runs, const Options&,
                     const Sink& sink) { report::formats::write_csv(runs, sink); }},
    Format{"markdown", write_markdown},
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

// A line a figure; beside a long path there is no room for its title.
std::string plotted_text(const report::figures::Plotted& plotted) {
    constexpr std::size_t kWidestPath = base::kScreenColumns / 2;
    std::size_t width = 0;
    for (const auto& picture : plotted.pictures)
        width = std::max(width, base::columns_of(picture.path.string()));
    std::string text;
    for (const auto& [path, title] : plotted.pictures) {
        const std::string name = path.string();
        const std::string head = width > kWidestPath
                                     ? name + "\n    "
                                     : name + std::string(width + 2 - base::columns_of(name), ' ');
        const std::string rest =
            base::wrapped(std::string(width > kWidestPath ? 4 : width + 2, ' '), base::one_line(title));
        text += head + rest.substr(rest.find_first_not_of(' '));
    }
    std::set<std::string> endings;
    for (const auto& path : plotted.beside) endings.insert(path.extension().string());
    return text + fmt::format("and {} files beside them: data, tables, scripts ({})\n", plotted.beside.size(),
                              base::join({endings.begin(), endings.end()}, " "));
}

void write_plots(const ChosenRuns& chosen, const Options& options, const Sink& sink) {
    std::vector<results::Run> runs;
    chosen.visit(results::Detail::all, [&](results::Run&& run) { runs.push_back(std::move(run)); });
    sink(plotted_text(report::figures::plot(runs, options.text("plots"))));
}

// What the reports, which know no options, say that one can type.
report::model::HowTo how_to(const std::string& file) {
    return {.choose = "choose with --where",
            .list_older = "--last N lists more, --where, --label and --group-by ask for some",
            .pool = "--allow KEY pools them all the same",
            .other_measurements = "--measure NAME asks for others",
            .all_rows = "--format json",
            .one_run = fmt::format("ranklab report {} --run", base::shell_path(file)),
            .store = fmt::format("`ranklab train --output {}` would store one", base::shell_path(file)),
            .measure_network = "`ranklab comm --from-model MODEL` on as many ranks would"};
}

ChosenRuns chosen_runs(const Options& options) {
    if (options.positional().empty())
        throw base::OptionError("report needs a results file: ranklab report results/ranklab.h5");
    report::model::Choice choice;
    choice.id = options.text_or("run", "");
    if (options.has("label")) choice.label = options.text("label");
    if (options.has("last")) choice.last = static_cast<std::size_t>(options.integer("last"));
    choice.conditions = options.texts("where");
    const std::string& file = options.positional().front();
    return {results::ResultFile(file), std::move(choice), how_to(file)};
}

// What is asked for and would be left out without a word.
void refuse_what_has_no_effect(const Options& options) {
    options.check_relations();
    if (options.has("group-by") && options.text("group-by").empty())
        throw base::OptionError("--group-by names no key; give some, such as ranks,sync");
    const bool groups = options.is("format", "markdown") || options.has("group-by") || options.has("measure");
    if (options.has("allow") && !groups)
        throw base::OptionError("--allow is for tables: give --group-by with it");
}

// On stderr, since what a program reads has no place for it.
void warn_of_nothing(const ChosenRuns& runs) {
    if (runs.handed_over() == 0 && !runs.everything())
        base::log::warn(base::printable(base::trim(runs.nothing()), 400));
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
    } else {
        for (const auto& format : kFormats)
            if (options.text("format") == format.name) format.write(runs, options, sink);
    }
    if (options.text("format") != "text" && options.text("format") != "html") warn_of_nothing(runs);
    output.commit();
    return 0;
}

void describe(options::Schema& schema) {
    schema.positional(1);
    schema.section("What to show")
        .text("run", "ID", std::nullopt, "one run instead of all")
        .texts("where", "CONDITION",
               "only runs that meet this condition: model=mnist-cnn, sync!=none, ranks>=2, label=night*, "
               "model=a,b; a setting, ranks, nodes, command, label, valid, exit_code, cut_short, version, "
               "git_revision or a fact of the context such as host.kernel; may be given several times")
        .text("label", "TEXT", std::nullopt, "only runs of exactly this --label")
        .integer("last", 1, std::nullopt, "only the last N of the runs that the other options leave");
    schema.section("Tables")
        .text(
            "group-by", "KEY[,KEY]", std::nullopt,
            "text, markdown, json: a row for each of these keys' values instead of a list, with medians and "
            "intervals over its runs; with `ranks`, `threads` or `workers` among the keys speedup and "
            "efficiency per core, too. extrap: the parameters (default: ranks, written as p)")
        .needs({.other = "format", .values = {"text", "markdown", "json", "extrap"}})
        .excludes({.other = "plots"})
        .text("allow", "KEY[,KEY]", std::nullopt,
              "text, markdown, json: pool runs although they differ in these surroundings (hosts, host.cpu, "
              "git_revision, a beginning with *); by default each has its own row")
        .needs({.other = "format", .values = {"text", "markdown", "json"}})
        .excludes({.other = "plots"})
        .text("measure", "NAME[,NAME]", std::nullopt,
              "text, markdown, json: these measurements; phases: all phases of the step (default: "
              "throughput_samples_per_s, step_time_s, job_time_s, write_MiBps, whichever there are)")
        .needs({.other = "format", .values = {"text", "markdown", "json"}})
        .excludes({.other = "plots"});
    schema.section("How")
        .choice("format", format_names(), "text", "how it is written")
        .integer("trace-steps", 1, "200", "chrome-trace: at most N steps of each run")
        .needs({.other = "format", .values = {"chrome-trace"}})
        .text("output", "FILE", std::nullopt,
              "write into this file, whole or not at all, instead of to stdout")
        .text(
            "plots", "DIR", std::nullopt,
            "draw into DIR (gnuplot): training loss against steps, samples and time, the learning rate; io's "
            "ladder, and its speedup over ranks or workers")
        .excludes({.other = "format", .because = "it draws pictures and no report"});
}

}  // namespace

int run_report(int argc, char** argv) {
    prepare_process();
    options::Schema schema;
    describe(schema);
    return guarded([&] { return run_plain_command(schema, kText, arguments_of(argc, argv), show); });
}

}  // namespace ranklab::app
