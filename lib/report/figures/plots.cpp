#include "base/error.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/gnuplot.hpp"
#include "report/figures/lines.hpp"
#include "report/figures/table_files.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

results::Run run_of(const std::vector<results::Run>& runs, const std::string& id) {
    for (const auto& run : runs)
        if (run.id == id) return run;
    throw base::OptionError("there is no run '" + id + "' among those to draw");
}

struct Prepared {
    std::vector<Drawing> drawings;
    std::vector<fs::path> tables;

    void add(const FileTable& table, const fs::path& folder) {
        const auto files = write_table(table, folder);
        tables.insert(tables.end(), files.begin(), files.end());
    }
};

Prepared prepare_figures(const std::vector<results::Run>& runs, const fs::path& folder) {
    model::GroupedRuns grouped;
    for (results::Run run : runs) grouped.add(std::move(run));
    const model::References nothing_published;
    const Source source{grouped, [&](const std::string& id) { return run_of(runs, id); }, nothing_published};
    Prepared prepared;
    for (const auto& figures :
         {losses_of_runs(runs), ladder_figures(source), io_scaling_figures(source),
          scaling_figures(source, stats::Scaling::weak), scaling_figures(source, stats::Scaling::strong),
          thread_figures(source), phase_figures(source), message_figures(source), step_figures(source)})
        for (const auto& figure : figures) {
            if (figure.chart.empty()) continue;
            prepared.drawings.push_back(prepare_chart(figure.chart, figure.caption, folder, Medium::paper));
            prepared.add(table_of(figure), folder);
        }
    for (const auto& table : group_tables(source)) prepared.add(table, folder);
    return prepared;
}

}  // namespace

std::vector<fs::path> plot(const std::vector<results::Run>& runs, const fs::path& folder) {
    std::error_code error;  // the first file that cannot be written says it
    fs::create_directories(folder, error);
    std::vector<fs::path> files = write_losses(runs, folder);
    const auto [drawings, tables] = prepare_figures(runs, folder);
    if (drawings.empty())
        throw base::OptionError(
            "no run in this file has training losses or job times of io to draw; `ranklab train` and "
            "`ranklab io` store them");
    for (const auto& drawing : drawings) {
        draw(drawing);
        files.insert(files.end(), {drawing.data, drawing.script, drawing.picture});
        const fs::path paper = fs::path(drawing.picture).replace_extension(".pdf");
        if (fs::exists(paper, error)) files.push_back(paper);  // a gnuplot without pdfcairo makes none
    }
    files.insert(files.end(), tables.begin(), tables.end());
    return files;
}

}  // namespace ranklab::report::figures
