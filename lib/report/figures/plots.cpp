#include <fmt/format.h>

#include <algorithm>

#include "base/descriptor.hpp"
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

std::vector<Figure> newest_collectives(const Source& source) {
    const auto all = collective_figures(source, 1);
    return all.empty() ? std::vector<Figure>() : all.front().figures;
}

struct Prepared {
    std::vector<Drawing> drawings;
    std::vector<std::string> titles, over;  // of the drawings, and of their x axes
    std::vector<fs::path> tables;

    // Several may show the same over different x.
    std::string title(std::size_t i) const {
        return std::ranges::count(titles, titles[i]) == 1 ? titles[i]
                                                          : fmt::format("{} over {}", titles[i], over[i]);
    }

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
          thread_figures(source), phase_figures(source), message_figures(source), network_figures(source),
          newest_collectives(source), step_figures(source)})
        for (const auto& figure : figures) {
            if (figure.chart.empty()) continue;
            prepared.drawings.push_back(prepare_chart(figure.chart, figure.caption, folder, Medium::paper));
            prepared.titles.push_back(figure.chart.title);
            prepared.over.push_back(figure.chart.x_label);
            prepared.add(table_of(figure), folder);
        }
    for (const auto& table : group_tables(source)) prepared.add(table, folder);
    return prepared;
}

}  // namespace

Plotted plot(const std::vector<results::Run>& runs, const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) base::throw_errno("mkdir", folder, error.value(), "plots");
    Plotted plotted{.pictures = {}, .beside = write_losses(runs, folder)};
    const Prepared prepared = prepare_figures(runs, folder);
    const auto& drawings = prepared.drawings;
    if (drawings.empty())
        throw base::OptionError(
            "no run in this file has training losses, job times of io or calls of comm to draw; `ranklab "
            "train`, `ranklab io` and `ranklab comm` store them");
    for (std::size_t i = 0; i < drawings.size(); ++i) {
        draw(drawings[i]);
        plotted.pictures.push_back({drawings[i].picture, prepared.title(i)});
        plotted.beside.insert(plotted.beside.end(), {drawings[i].data, drawings[i].script});
        const fs::path paper = fs::path(drawings[i].picture).replace_extension(".pdf");
        if (fs::exists(paper, error))
            plotted.beside.push_back(paper);  // a gnuplot without pdfcairo makes none
    }
    plotted.beside.insert(plotted.beside.end(), prepared.tables.begin(), prepared.tables.end());
    return plotted;
}

}  // namespace ranklab::report::figures
