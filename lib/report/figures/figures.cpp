// The list of sections, and their pictures by gnuplot.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/frame/frame.hpp"
#include "results/staged_file.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRowsOnPaper = 60;
constexpr int kNoGnuplot = 127;  // a shell's exit code for an unknown command

constexpr const char* kSetting = "plots";

// Returns the picture, read from a pipe: gnuplot exits with 0 even if it cannot write a file.
// Throws EnvironmentError on failure.
std::string draw(const Figure& figure, const std::string& ending) {
    const base::Descriptor script(::memfd_create("script", 0));
    if (!script || !base::write_whole(script.get(), script_of(figure)))
        base::throw_errno("memfd_create", figure.name + ".gp", errno, kSetting);
    // In other locales gnuplot warns of a degree sign. -d: without the settings of ~/.gnuplot.
    const std::string line =
        "command -v gnuplot > /dev/null || exit 127; LC_ALL=C.UTF-8 " +
        base::shell_quote({"gnuplot", "-d", "-e", "file='/dev/stdout'; ending='" + ending + "'",
                           fmt::format("/dev/fd/{}", script.get())});
    auto [status, picture] = base::output_of(line);
    if (status == kNoGnuplot)
        throw base::EnvironmentError(
            "gnuplot is not installed; install it (Debian: gnuplot-nox) and repeat");
    if (status != 0 || picture.empty())
        throw base::EnvironmentError(fmt::format(
            "gnuplot failed on the figure '{}'; its own message says why", figure.name));
    return std::move(picture);
}

// Throws OptionError if the figure's files exist, unless a script of ranklab's is among them.
void refuse_foreign_files(const fs::path& folder, const Figure& figure) {
    const std::string script = script_of(figure), mark = script.substr(0, script.find('\n'));
    const auto at = [&](const char* ending) { return folder / (figure.name + ending); };
    std::string line;
    if (base::irregular_kind(at(".gp")).empty() && std::getline(std::ifstream(at(".gp")), line) &&
        line == mark)
        return;
    for (const char* ending : {".gp", ".svg", ".pdf", ".png", ".csv", ".tex"})
        if (std::error_code none; fs::exists(fs::symlink_status(at(ending), none)))
            throw base::OptionError(
                fmt::format("{} exists, and ranklab did not write it; name another folder",
                            at(ending).string()),
                {kSetting});
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
    std::ptrdiff_t all = 0, most = 0;
    for (const auto& one : series) {
        if (one.look == Look::dashed) continue;
        const auto drawn = [](const Point& point) { return is_drawn(point.y); };
        all += std::ranges::count_if(one.points, drawn);
        most = std::max(most, std::ranges::count_if(one.points, drawn));
    }
    return (bars() ? all : most) < 2;
}

void add_bar(Figure& figure, const std::string& name, const Cell& length) {
    if (figure.series.empty()) figure.series.push_back({figure.x_label, Look::points, 0, {}});
    figure.series[0].points.push_back(
        {base::real(figure.categories.size()), length.number, length.interval});
    figure.categories.push_back(name);
}

Frame frame_of(const Figure& figure) {
    Frame frame{.title = figure.title + (figure.caption.empty() ? "" : ". " + figure.caption)};
    const std::string& label = figure.bars() ? figure.x_label : figure.y_label;
    const bool has_unit = !figure.unit.empty() && figure.unit != "1";
    const Column number{.name = has_unit ? fmt::format("{} [{}]", label, figure.unit) : label,
                        .unit = has_unit ? figure.unit : "1",
                        .interval = true,
                        .head = label};
    if (figure.bars()) {
        frame.columns = {{.name = "name", .role = Role::key}};
        for (const auto& category : figure.categories) frame.rows.push_back({{category}, {}});
        for (const auto& series : figure.series) {
            Column column = number;
            if (figure.series.size() > 1) column.name = series.title, column.head.clear();
            column.interval = series.has_intervals();
            for (const auto& point : series.points)
                frame.set(static_cast<std::size_t>(point.x), column, {point.y, point.interval});
        }
        return frame;
    }
    frame.columns = {{.name = "series", .role = Role::key},
                     {.name = figure.x_label, .unit = figure.x_bytes ? "B" : "", .role = Role::key},
                     number};
    for (const auto& series : figure.series)
        for (const auto& point : series.points)
            if (series.look != Look::dashed)
                frame.rows.push_back({{series.title, point.x, {point.y, point.interval}}});
    return frame;
}

std::vector<Section> sections_of(const Source& source) {
    std::vector<Section> sections = scaling_sections(source);
    for (const auto& section_of :
         {ways_section, phases_section, collectives_section, ladder_section, steps_section,
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

std::vector<Caveat> doubts_of(const Frame& table, const Places& rows) {
    std::vector<Caveat> doubts;
    for (const std::size_t row : rows)
        for (const auto& caveat : table.rows[row].caveats)
            if (std::ranges::count(doubts, caveat.kind, &Caveat::kind) == 0)
                doubts.push_back(caveat);
    return doubts;
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
    try {
        return draw(figure, "svg");
    } catch (const base::Error& error) {
        why_not = error.what();
        return std::nullopt;
    }
}

std::vector<std::pair<fs::path, std::string>> plot(const Source& source, const fs::path& folder) {
    std::vector<Figure> figures;
    for (const auto& section : sections_of(source))
        std::ranges::copy(section.figures, std::back_inserter(figures));
    if (figures.empty())
        throw base::OptionError(
            "no run in this file has training losses, job times of io or calls of comm to draw; "
            "ranklab train, io and comm store them");
    base::make_folders(folder, kSetting);
    for (const auto& figure : figures) refuse_foreign_files(folder, figure);
    const auto write = [&](const Figure& figure, const std::string& ending,
                           const std::string& text) {
        results::write_text(folder / (figure.name + ending), text, kSetting);
    };
    for (const auto& figure : figures) {
        const Frame numbers = frame_of(figure);
        write(figure, ".gp", script_of(figure));
        write(figure, ".csv", csv_of(numbers));
        if (numbers.rows.size() <= kMostRowsOnPaper)
            write(figure, ".tex", latex_of(numbers, figure.name));
    }
    std::vector<std::pair<fs::path, std::string>> pictures;
    for (const auto& figure : figures) {
        for (const char* ending : {"svg", "pdf", "png"})
            write(figure, fmt::format(".{}", ending), draw(figure, ending));
        pictures.emplace_back(folder / (figure.name + ".svg"), figure.title);
    }
    return pictures;
}

}  // namespace ranklab::report::figures
