// The figures of a report. gnuplot draws the same description for pages and paper. Figures without
// data are left out.
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

/// False for numbers that are too large for gnuplot.
inline bool is_drawn(double number) {
    return std::abs(number) < 1e300;
}

struct Point {
    double x = 0;  ///< for bars: the index of the category
    double y = 0;
    stats::Interval interval = {};
};

enum class Look : std::size_t { points, line, dashed, marks };

struct Series {
    std::string title;
    Look look = Look::points;
    std::size_t colour = 0;
    std::vector<Point> points = {};

    bool has_intervals() const;
    /// Whether no point can be drawn.
    bool empty() const;
};

struct Figure {
    std::string name = {};  ///< of the figure's files, without the ending
    std::string title = {};
    std::string x_label = {}, y_label = {};  ///< bars are horizontal: x_label names their length
    std::string unit = {};                   ///< of y, or of the length of bars
    std::vector<Series> series = {};
    /// Names of the bars, in which the series are stacked; empty: no bars.
    std::vector<std::string> categories = {};
    bool log_x = false, log_y = false;  ///< ignored for bars
    /// Empty: gnuplot's choice, or 64 KiB, 1 MiB, ... if x_bytes is true.
    std::vector<double> x_tics = {};
    bool x_bytes = false;             ///< x is in bytes, and logarithmic
    double shaded_to = stats::kNone;  ///< warm-up, from the left edge to this x
    std::string caption = {};         ///< one sentence

    bool bars() const { return !categories.empty(); }
    bool empty() const;  ///< fewer than two bars, or only ideal lines have two points
};
/// Adds a bar to a figure of one series.
void add_bar(Figure& figure, const std::string& name, const Cell& length);
/// The numbers of all points except those of ideal lines.
Frame frame_of(const Figure& figure);

/// The gnuplot script with its data. It draws NAME.svg, or .pdf or .png by the variable `ending`.
std::string script_of(const Figure& figure);
/// Draws the SVG and returns its text. Returns nullopt and fills `why_not` if gnuplot is
/// missing or fails.
std::optional<std::string> draw_svg(const Figure& figure, std::string& why_not);

/// The input of figures.
struct Source {
    const model::Groups& groups;
    const results::ResultFile& file;  ///< with the runs of the groups
    const model::References& references;

    /// The newest run of a group, without samples; newest_whole() reads the samples, too.
    results::Run newest(std::size_t group) const {
        return file.read(groups.newest(group), results::Detail::summaries);
    }
    results::Run newest_whole(std::size_t group) const { return file.read(groups.newest(group)); }
};

/// The answer to a section's question, for the top of the page.
struct Answer {
    std::string question = {};
    std::string of = {};  ///< what was measured: the workload
    Finding finding = {};
    std::vector<Caveat> doubts = {};
};

/// The figures and tables that answer one question.
struct Section {
    std::string id, heading;
    std::vector<Figure> figures = {};
    std::vector<Frame> tables = {};
    std::vector<std::string> text = {};  ///< paragraphs
    std::vector<Answer> answers = {};
};
std::vector<Section> sections_of(const Source& source);

std::vector<Section> scaling_sections(const Source& source);
/// The sections "weak-scaling" and "strong-scaling" of training, with a table each. Throws
/// OptionError if there is neither.
std::vector<Section> scaling_over_ranks(const Source& source);
Section phases_section(const Source& source);
Section steps_section(const Source& source);
Section losses_section(const Source& source);
Section inside_section(const Source& source);
Section collectives_section(const Source& source);
/// The row in groups.runs() of the ladder with the most strategies; of several such ladders the one
/// that writes most, then the newest.
std::optional<std::size_t> largest_ladder(const model::Groups& groups);
Section ladder_section(const Source& source);
/// Figures and answers of groups that differ in one setting: modes, precisions, models, devices,
/// and strategies if their label is not the largest ladder's.
Section ways_section(const Source& source);
Section published_section(const Source& source);

/// The caveats of some groups in a table, one of each kind.
std::vector<Caveat> doubts_of(const Frame& table, const Places& rows);

/// The groups with valid runs of that command ("": of any), the newest first, at most `most`.
std::vector<std::size_t> newest_groups(const model::Groups& groups, std::string_view command,
                                       std::size_t most);

/// Writes each figure into `folder` (created if missing) as .svg, .pdf and .png with its script
/// (.gp) and numbers (.csv and, if they fit a page, .tex). Returns the .svg files and their titles.
/// Throws OptionError if there is nothing to draw, or if the folder has files of these names that
/// ranklab did not write; EnvironmentError if the folder cannot be written
/// or if gnuplot is missing or fails, after it wrote all scripts and numbers.
std::vector<std::pair<std::filesystem::path, std::string>> plot(
    const Source& source, const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
