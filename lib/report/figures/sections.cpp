#include <fmt/format.h>

#include <algorithm>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "report/figures/draw.hpp"
#include "report/figures/figure.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRowsOnPaper = 60;

}  // namespace

std::vector<Section> sections_of(const Source& source) {
    std::vector<Section> sections = scaling_sections(source);
    for (const auto& section_of : {phases_section, buckets_section, collectives_section, ladder_section,
                                   steps_section, losses_section, published_section})
        sections.push_back(section_of(source));
    for (auto& section : sections) {
        std::erase_if(section.figures, [](const Figure& figure) { return figure.empty(); });
        std::erase_if(section.tables, [](const Frame& table) { return table.empty(); });
    }
    std::erase_if(sections,
                  [](const Section& section) { return section.figures.empty() && section.tables.empty(); });
    return sections;
}

std::vector<const model::Group*> newest_groups(const model::Groups& groups, const std::string& command,
                                               std::size_t most) {
    std::vector<const model::Group*> found;
    for (const auto& group : groups.all)
        if (group.valid() && (command.empty() || group.factor("command") == command)) found.push_back(&group);
    std::ranges::stable_sort(found, std::greater(),
                             [](const model::Group* group) { return group->runs.back(); });
    if (found.size() > most) found.resize(most);
    return found;
}

std::vector<std::string> names_of(const model::Groups& groups, const std::vector<const model::Group*>& some) {
    auto names = groups.titles(some);
    for (std::size_t i = 0; i < some.size(); ++i) names[i] += ", " + some[i]->factor("ranks") + " ranks";
    for (auto& name : names)
        if (name.ends_with(", 1 ranks")) name.pop_back();
    return names;
}

Plotted plot(const Source& source, const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) base::throw_errno("mkdir", folder, error.value(), "plots");
    std::vector<Figure> figures;
    for (auto& section : sections_of(source))
        figures.insert(figures.end(), section.figures.begin(), section.figures.end());
    if (figures.empty())
        throw base::OptionError(
            "no run in this file has training losses, job times of io or calls of comm to draw; ranklab "
            "train, io and "
            "comm store them");
    Plotted plotted;
    const auto write = [&](const std::string& name, const std::string& text) {
        plotted.beside.push_back(folder / name);
        write_plot_file(plotted.beside.back(), text);
    };
    for (const auto& figure : figures) {
        const Frame numbers = frame_of(figure);
        write(figure.name + ".gp", script_of(figure));
        write(figure.name + ".csv", csv_of(numbers));
        if (numbers.rows.size() <= kMostRowsOnPaper)
            write(figure.name + ".tex", latex_of(numbers, figure.name));
    }
    for (const auto& figure : figures)
        for (const char* ending : {"svg", "pdf", "png"}) {
            if (const auto why = draw(folder / (figure.name + ".gp"), ending); !why.empty())
                throw base::EnvironmentError(why);
            const fs::path picture = folder / (figure.name + "." + ending);
            if (std::string_view(ending) == "svg")
                plotted.pictures.emplace_back(picture, figure.title);
            else
                plotted.beside.push_back(picture);
        }
    return plotted;
}

}  // namespace ranklab::report::figures
