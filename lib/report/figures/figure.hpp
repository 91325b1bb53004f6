// The figures of a report, each described once: for the page and for paper alike. Where the runs have nothing
// for a figure, there is none.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures/chart.hpp"
#include "report/figures/words.hpp"
#include "report/model/grouped_runs.hpp"
#include "report/model/reference.hpp"
#include "results/run.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::figures {

/// The numbers of a figure; the first cell of a row names it.
struct NumberTable {
    Words title = {};
    std::vector<std::string> heads = {};  ///< of the columns; none: the rows say all
    std::vector<std::vector<Words>> rows = {};
};

struct Figure {
    Chart chart;
    Words caption;
    std::vector<NumberTable> tables = {};  ///< none: number_table says the chart's numbers
};

/// What the charts' points say.
NumberTable number_table(const Chart& chart);

/// The series of rings about points at which more wanted to compute than could at once.
inline constexpr const char* kOversubscribed = "oversubscribed";

/// Of charts over the same x: a row for each point of a series, with what each chart says of it.
NumberTable joined_table(const std::vector<Figure>& figures);

/// What a group says of a measurement, at that x.
ChartPoint estimate_point(double x, const model::Group& group, std::string_view measurement);

struct Source {
    const model::GroupedRuns& grouped;
    /// A run with its samples.
    std::function<results::Run(const std::string& id)> load;
    const model::References& references;
};

/// Speedup and efficiency first.
std::vector<Figure> scaling_figures(const Source& source, stats::Scaling scaling);
std::vector<Figure> thread_figures(const Source& source);
std::vector<Figure> phase_figures(const Source& source);
std::vector<Figure> message_figures(const Source& source);
/// The buckets of the newest trainings on the curve that a run of comm measured, where one did.
std::vector<Figure> network_figures(const Source& source);
/// Of the newest runs of comm: time and bus bandwidth over the message size, and tables for below them.
struct CollectiveFigures {
    std::string title;
    std::vector<Figure> figures;
    std::vector<NumberTable> tables;
};
std::vector<CollectiveFigures> collective_figures(const Source& source, std::size_t most);
/// The newest ladder; a ladder that was climbed rung by rung is what its runs say.
std::vector<Figure> ladder_figures(const Source& source);
/// Each ladder that has a label, a directory or settings of its own, the newest first.
struct TitledFigures {
    std::string title;  ///< what tells it from the others; "" where it is alone
    std::vector<Figure> figures;
};
std::vector<TitledFigures> figures_of_ladders(const Source& source, std::size_t most);
std::vector<Figure> io_scaling_figures(const Source& source);
std::vector<Figure> step_figures(const Source& source);
std::vector<Figure> loss_figures(const Source& source);
std::vector<Figure> published_figures(const Source& source);

/// Our groups that are the same experiment as a published figure and measured the same quantity, the newest
/// last.
std::vector<const model::Group*> groups_like(const model::Reference& published,
                                             const model::GroupedRuns& grouped);
Number published_number(const model::Reference& published);

struct Picture {
    std::filesystem::path path;  ///< the .svg
    std::string title;
};

/// The files that were written.
struct Plotted {
    std::vector<Picture> pictures;
    std::vector<std::filesystem::path> beside;  ///< .pdf, data, scripts, tables
};

/// Into `folder` (made if missing), by gnuplot, whatever the runs, read with their samples, have to show:
/// training losses (loss_*.svg, learning_rate.svg), the file-writing ladder (ladder.svg), its scaling over
/// ranks or workers (io_scaling.svg, io_efficiency.svg), training over ranks (weak_*.svg, strong_*.svg) or
/// threads (thread_scaling.svg), phases (phases.svg), gradient buckets (messages.svg, network.svg), steps
/// (steps_*.svg), collectives (collectives_time.svg, collectives_busbw.svg);
/// each as .pdf too, data and scripts beside them, and each one's numbers, as those of the groups
/// (groups_COMMAND), as .csv and, where they fit a page, .tex.
/// OptionError where there is nothing to draw; EnvironmentError where the folder
/// cannot be written or gnuplot is missing or fails: all data and scripts are there then all the same.
Plotted plot(const std::vector<results::Run>& runs, const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
