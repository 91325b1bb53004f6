#include <fmt/format.h>

#include <cstdio>

#include "app/command_line.hpp"
#include "app/programs.hpp"
#include "app/session.hpp"
#include "base/error.hpp"
#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/plots.hpp"
#include "report/text.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

const ProgramText kText{
    "report", "FILE [options]", "Shows what a results file holds: for a person, or for a program.",
    "  ranklab report results/ranklab.h5                    the runs, and the last one whole\n"
    "  ranklab report results/ranklab.h5 --run ID           one run\n"
    "  ranklab report results/ranklab.h5 --format json      everything, for a program\n"
    "  ranklab report results/ranklab.h5 --plots plots      training losses and the io ladder, drawn by "
    "gnuplot\n"};

std::vector<results::Run> chosen_runs(const results::ResultFile& file, const options::Options& options) {
    if (options.has("run")) return {file.read(options.text("run"), results::Detail::summaries)};
    return file.read_all(results::Detail::summaries);
}

std::string text_of(const results::ResultFile& file, const options::Options& options) {
    if (options.has("run")) return report::run_text(file.read(options.text("run")));
    const auto headers = file.runs();
    std::string text = report::runs_text(headers, file.path().string());
    if (!headers.empty()) text += "\n" + report::run_text(file.read(headers.back().id));
    return text;
}

// The runs that are asked for, with their samples.
std::vector<results::Run> plotted_runs(const results::ResultFile& file, const options::Options& options) {
    if (options.has("run")) return {file.read(options.text("run"))};
    std::vector<results::Run> runs;
    for (const auto& header : file.runs()) {
        if (!options.has("label") || header.label == options.text("label"))
            runs.push_back(file.read(header.id));
    }
    return runs;
}

std::string plot(const results::ResultFile& file, const options::Options& options) {
    std::string text;
    for (const auto& path : report::plot(plotted_runs(file, options), options.text("plots")))
        text += path.string() + "\n";
    return text;
}

std::string html_of(const results::ResultFile& file, const options::Options& options) {
    report::HtmlOptions page;
    if (options.has("run")) page.run = options.text("run");
    if (options.has("label")) page.label = options.text("label");
    return report::html_page(file, report::Selection({}), page);
}

int show(const options::Options& options) {
    if (options.positional().empty())
        throw base::OptionError("report needs a results file: ranklab report results/ranklab.h5");
    const results::ResultFile file(options.positional().front());
    const std::string& format = options.text("format");
    const std::string text = options.has("plots") ? plot(file, options)
                             : format == "json"   ? report::runs_json(chosen_runs(file, options))
                             : format == "csv"    ? report::runs_csv(chosen_runs(file, options))
                             : format == "html"   ? html_of(file, options)
                                                  : text_of(file, options);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw base::EnvironmentError(
            "the report could not be written to stdout; is its disk full or the pipe closed?");
    }
    return 0;
}

}  // namespace

int run_report(int argc, char** argv) {
    prepare_process();
    options::Schema schema;
    schema.positional(1);
    schema.section("Options")
        .choice("format", {"text", "html", "json", "csv"}, "text", "how it is written")
        .text("run", "ID", std::nullopt, "one run instead of all")
        .text(
            "plots", "DIR", std::nullopt,
            "draw into DIR (gnuplot): training loss against steps, samples and time, the learning rate; io's "
            "ladder, and its speedup over ranks or workers")
        .text("label", "TEXT", std::nullopt, "of --plots: the runs of this --label alone");
    describe_help(schema);
    return guarded([&] {
        const auto options = options::Options::parse(schema, arguments_of(argc, argv));
        if (answer_help(options, schema, kText)) return 0;
        return show(options);
    });
}

}  // namespace ranklab::app
