#include "report/page/plots.hpp"

#include "base/error.hpp"
#include "report/figures/gnuplot.hpp"
#include "report/figures/plot_io_scaling.hpp"
#include "report/figures/plot_ladder.hpp"
#include "report/figures/plot_losses.hpp"
#include "report/page/html_sections.hpp"

namespace ranklab::report::page {
namespace {

namespace fs = std::filesystem;

results::Run run_of(const std::vector<results::Run>& runs, const std::string& id) {
    for (const auto& run : runs)
        if (run.id == id) return run;
    throw base::OptionError("there is no run '" + id + "' among those to draw");
}

// The figures of the page that have no script of their own above.
std::vector<figures::Drawing> prepare_page_figures(const std::vector<results::Run>& runs,
                                                   const fs::path& folder) {
    model::Campaign campaign;
    for (results::Run run : runs) campaign.add(std::move(run));
    const PageInput input{campaign, [&](const std::string& id) { return run_of(runs, id); }, "", "", {}};
    std::vector<figures::Drawing> drawings;
    for (const auto& figures :
         {scaling_figures(input, stats::Scaling::weak), scaling_figures(input, stats::Scaling::strong),
          phase_figures(input), message_figures(input), step_figures(input)})
        for (const auto& figure : figures)
            if (!figure.chart.empty())
                drawings.push_back(figures::prepare_chart(figure.chart, folder, figures::Medium::paper));
    return drawings;
}

// A gnuplot without pdfcairo makes none.
void add_pictures(std::vector<fs::path>& files, const figures::Drawing& drawing) {
    std::error_code error;
    for (const auto& picture : drawing.pictures) {
        files.push_back(picture);
        const fs::path paper = fs::path(picture).replace_extension(".pdf");
        if (fs::exists(paper, error)) files.push_back(paper);
    }
}

}  // namespace

std::vector<std::filesystem::path> plot(const std::vector<results::Run>& runs,
                                        const std::filesystem::path& folder) {
    std::error_code error;  // the first file that cannot be written says it
    std::filesystem::create_directories(folder, error);
    std::vector<figures::Drawing> drawings;
    for (const auto prepare : {figures::prepare_losses, figures::prepare_ladder, figures::prepare_io_scaling})
        if (const auto drawing = prepare(runs, folder)) drawings.push_back(*drawing);
    for (auto& drawing : prepare_page_figures(runs, folder)) drawings.push_back(std::move(drawing));
    if (drawings.empty())
        throw base::OptionError(
            "no run in this file has training losses or job times of io to draw; `ranklab train` and "
            "`ranklab io` "
            "store them");
    std::vector<std::filesystem::path> files;
    for (const auto& drawing : drawings) {
        figures::draw(drawing);
        files.insert(files.end(), drawing.written.begin(), drawing.written.end());
        add_pictures(files, drawing);
    }
    return files;
}

}  // namespace ranklab::report::page
