// The figures of a report: each has one description, which gnuplot draws alike for pages and paper.
// A figure without data in the runs is left out.
#pragma once

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "report/model/groups.hpp"
#include "report/model/reference.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::figures {

/// Larger ones cannot be drawn by gnuplot.
inline bool is_drawn(double number) {
    return std::abs(number) < 1e300;
}

struct Point {
    double x = 0;  ///< of bars: the number of the category, from 0
    double y = 0;
    stats::Interval interval = {};
};

enum class Look { points, line, dashed, marks };

struct Series {
    std::string title;
    Look look = Look::points;
    std::size_t colour = 0;
    std::vector<Point> points = {};

    bool has_intervals() const;
};

struct Figure {
    std::string name = {};  ///< of its files, without ending
    std::string title = {};
    std::string x_label = {}, y_label = {};  ///< bars lie: theirs is the length's, x_label
    std::string unit = {};                   ///< of the values: of y, or of the bars' length
    std::vector<Series> series = {};
    /// The categories of bars; not empty: series are stacked.
    std::vector<std::string> categories = {};
    bool log_x = false, log_y = false;  ///< not of bars
    /// The tics; empty: gnuplot's own, or 64 KiB, 1 MiB, ... where x_bytes is true.
    std::vector<double> x_tics = {};
    bool x_bytes = false;             ///< of a logarithmic x
    double shaded_to = stats::kNone;  ///< from the left edge to here: warm-up
    std::string caption = {};         ///< one sentence

    bool bars() const { return !categories.empty(); }
    /// No point has a number that can be drawn.
    bool empty() const;
};
/// The numbers of its points, but for lines that are ideals.
Frame frame_of(const Figure& figure);

/// The gnuplot script with its data; it makes NAME.svg, .pdf or .png by the variable `ending`.
std::string script_of(const Figure& figure);
/// The SVG, drawn in a temporary folder; nullopt where gnuplot is missing or fails: `why_not` says
/// why.
std::optional<std::string> draw_svg(const Figure& figure, std::string& why_not);

/// The input of figures. The groups hold repetitions: runs that differ in nothing else.
struct Source {
    const model::Groups& groups;
    const results::ResultFile& file;  ///< that the groups' runs are of
    const model::References& references;

    /// The group's newest run with its tables, without samples; and with samples.
    results::Run newest(const model::Group& group) const {
        return file.read(groups.newest(group), results::Detail::summaries);
    }
    results::Run newest_whole(const model::Group& group) const {
        return file.read(groups.newest(group));
    }
};

/// Figures of one question, and their tables.
struct Section {
    std::string id, heading;
    std::vector<Figure> figures = {};
    std::vector<Frame> tables = {};
    std::vector<std::string> text = {};  ///< paragraphs
};
std::vector<Section> sections_of(const Source& source);

std::vector<Section> scaling_sections(const Source& source);
/// "weak-scaling", "strong-scaling", of training, with a table each. OptionError where neither is.
std::vector<Section> scaling_over_ranks(const Source& source);
Section phases_section(const Source& source);
Section buckets_section(const Source& source);
Section steps_section(const Source& source);
Section losses_section(const Source& source);
Section inside_section(const Source& source);
Section collectives_section(const Source& source);
Section ladder_section(const Source& source);
Section published_section(const Source& source);

/// Groups of valid runs of that command, the newest first, at most `most`.
std::vector<const model::Group*> newest_groups(const model::Groups& groups,
                                               const std::string& command, std::size_t most);

/// Long lines keep the least and the largest point of each piece, so that no peak is lost.
std::vector<Point> line_points(const std::vector<double>& x, const std::vector<double>& y);

/// Writes into `folder` (made if missing) each figure as .svg, .pdf and .png with its script (.gp)
/// and its numbers (.csv and, where they fit a page, .tex): the .svg files and their titles.
/// OptionError where there is nothing to draw; EnvironmentError where the folder cannot be written
/// or gnuplot is missing or fails: scripts and numbers are written even then.
std::vector<std::pair<std::filesystem::path, std::string>> plot(
    const Source& source, const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
