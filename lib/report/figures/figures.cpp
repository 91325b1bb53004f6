// The list of sections, and their pictures by gnuplot.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/frame/frame.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRowsOnPaper = 60;
constexpr int kNoGnuplot = 127;  // a shell's exit code for an unknown command

void write_plot_file(const fs::path& path, const std::string& text) {
    const auto file = base::open_regular<base::OptionError>(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) base::throw_errno("open", path, errno, "plots");
    if (!base::write_whole(file.get(), text)) base::throw_errno("write", path, errno, "plots");
}

// Draws NAME.ending in the script's folder, and returns what `command` prints there afterwards.
// Throws EnvironmentError on failure.
std::string draw(const fs::path& script, const std::string& ending,
                 const std::vector<std::string>& command = {"true"}) {
    // In other locales gnuplot warns of a degree sign.
    const std::string line = "command -v gnuplot > /dev/null || exit 127; " +
                             base::shell_quote({"cd", "--", script.parent_path().string()}) +
                             " && LC_ALL=C.UTF-8 " +
                             base::shell_quote({"gnuplot", "-e", "ending='" + ending + "'",
                                                script.filename().string()}) +
                             " && " + base::shell_quote(command);
    const auto [status, text] = base::output_of(line);
    if (status == kNoGnuplot)
        throw base::EnvironmentError(
            "gnuplot is not installed; install it (Debian: gnuplot-nox) and repeat");
    if (status != 0)
        throw base::EnvironmentError(
            fmt::format("gnuplot failed on '{}'; its own message says why", script.string()));
    return text;
}

}  // namespace

bool Series::has_intervals() const {
    return std::ranges::any_of(points,
                               [](const Point& point) { return is_drawn(point.interval.low); });
}

bool Series::empty() const {
    return std::ranges::none_of(points, [](const Point& point) { return is_drawn(point.y); });
}

bool Figure::empty() const {
    return std::ranges::all_of(series, &Series::empty);
}

Frame frame_of(const Figure& figure) {
    Frame frame{.title = figure.title + (figure.caption.empty() ? "" : ". " + figure.caption)};
    const Column number{.name = figure.bars() ? figure.x_label : figure.y_label,
                        .unit = figure.unit.empty() ? "1" : figure.unit,
                        .interval = true};
    if (figure.bars()) {
        frame.columns = {{.name = "name", .role = Role::key}};
        for (const auto& category : figure.categories) frame.rows.push_back({{category}, {}});
        for (const auto& series : figure.series) {
            Column column = number;
            column.name = figure.series.size() < 2 ? number.name : series.title;
            column.interval = series.has_intervals();
            frame.columns.push_back(column);
            for (const auto& point : series.points) {
                auto& cells = frame.rows[static_cast<std::size_t>(point.x)].cells;
                cells.resize(frame.columns.size());
                cells.back() = {point.y, point.interval};
            }
        }
        return frame;
    }
    frame.columns = {{.name = "series", .role = Role::key},
                     {.name = figure.x_label, .unit = figure.x_bytes ? "B" : "", .role = Role::key},
                     number};
    for (const auto& series : figure.series)
        for (const auto& point : series.points)
            if (series.look != Look::dashed)
                frame.rows.push_back(
                    {{series.title, Cell(point.x), Cell(point.y, point.interval)}, {}});
    return frame;
}

std::vector<Section> sections_of(const Source& source) {
    std::vector<Section> sections = scaling_sections(source);
    for (const auto& section_of :
         {phases_section, buckets_section, collectives_section, ladder_section, steps_section,
          losses_section, inside_section, published_section})
        sections.push_back(section_of(source));
    for (auto& section : sections) {
        std::erase_if(section.figures, [](const Figure& figure) { return figure.empty(); });
        std::erase_if(section.tables, [](const Frame& table) { return table.empty(); });
    }
    std::erase_if(sections, [](const Section& section) {
        return section.figures.empty() && section.tables.empty();
    });
    return sections;
}

std::vector<std::size_t> newest_groups(const model::Groups& groups, std::string_view command,
                                       std::size_t most) {
    std::vector<std::size_t> found = groups.all();
    std::erase_if(found, [&](std::size_t group) {
        return !groups.valid(group) || (!command.empty() && groups.command(group) != command);
    });
    std::ranges::stable_sort(found, std::greater(),
                             [&](std::size_t group) { return groups.members(group).back(); });
    if (found.size() > most) found.resize(most);
    return found;
}

std::optional<std::string> draw_svg(const Figure& figure, std::string& why_not) {
    std::string folder = (fs::temp_directory_path() / "ranklab-report-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) {
        why_not = "no temporary folder could be made; set TMPDIR to one that is writable";
        return std::nullopt;
    }
    const fs::path script = fs::path(folder) / (figure.name + ".gp");
    std::optional<std::string> svg;
    try {
        write_plot_file(script, script_of(figure));
        svg = draw(script, "svg", {"base64", "-w0", figure.name + ".svg"});
    } catch (const base::Error& error) {
        why_not = error.what();
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return svg;
}

std::vector<std::pair<fs::path, std::string>> plot(const Source& source, const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) base::throw_errno("mkdir", folder, error.value(), "plots");
    std::vector<std::pair<fs::path, std::string>> pictures;
    for (const auto& section : sections_of(source))
        for (const auto& figure : section.figures) {
            const Frame numbers = frame_of(figure);
            pictures.emplace_back(folder / (figure.name + ".svg"), figure.title);
            write_plot_file(folder / (figure.name + ".gp"), script_of(figure));
            write_plot_file(folder / (figure.name + ".csv"), csv_of(numbers));
            if (numbers.rows.size() <= kMostRowsOnPaper)
                write_plot_file(folder / (figure.name + ".tex"), latex_of(numbers, figure.name));
        }
    if (pictures.empty())
        throw base::OptionError(
            "no run in this file has training losses, job times of io or calls of comm to draw; "
            "ranklab train, io and comm store them");
    for (const auto& [svg, title] : pictures)
        for (const char* ending : {"svg", "pdf", "png"})
            draw(fs::path(svg).replace_extension("gp"), ending);
    return pictures;
}

}  // namespace ranklab::report::figures
