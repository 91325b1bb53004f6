#include "report/figures/drawer.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "report/figures/chart_scripts.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
        out.append(text, from, at - from).append(by);
        from = at + what.size();
    }
    text = from == 0 ? text : out.append(text, from);
}

// Of gnuplot's elements: what it calls them.
void replace_titles(std::string& text, const SaysTitle& says) {
    const std::string begin = "<title>", end = "</title>";
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, from)) {
        const std::size_t stop = text.find(end, at);
        if (stop == std::string::npos) break;
        const std::size_t name = at + begin.size();
        const std::string said = says(std::string_view(text).substr(name, stop - name));
        out.append(text, from, at - from);
        if (!said.empty()) out += begin + said + end;
        from = stop + end.size();
    }
    text = out.append(text, from);
}

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<Svg> svg_for_page(std::string picture, const SaysTitle& says) {
    const std::string box = "viewBox=\"", symbols = "</defs>";
    const std::size_t view = picture.find(box);
    const std::size_t body = picture.find(symbols);
    const std::size_t end = picture.rfind("</g>\n</svg>");
    if (view == std::string::npos || body == std::string::npos || end == std::string::npos)
        return std::nullopt;
    const std::size_t begin = view + box.size();
    Svg svg{picture.substr(begin, picture.find('"', begin) - begin),
            picture.substr(body + symbols.size(), end - body - symbols.size())};
    replace_titles(svg.drawing, says);
    replace_all(svg.drawing, "xlink:href", "href");
    return svg;
}

Drawer::Drawer(std::function<std::string(std::string_view)> escape) : escape_(std::move(escape)) {
    std::string name = (fs::temp_directory_path() / "ranklab-report-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) {
        folder_ = name;
    } else {
        why_not_ =
            "no temporary folder could be made, so nothing was drawn; set TMPDIR to one that is writable";
        base::log::warn(why_not_);
    }
}

Drawer::~Drawer() {
    std::error_code ignored;  // nothing depends on it
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

void Drawer::go_without(const std::string& why) {
    why_not_ = why;
    base::log::warn(why);
}

std::optional<Svg> Drawer::draw(const Chart& all) {
    if (!why_not_.empty()) return std::nullopt;
    const Chart chart = with_what_is_drawn(all);
    const auto says = [&](std::string_view title) { return escape_(hover_text(chart, title)); };
    try {
        const Drawing drawing = prepare_chart(chart, {}, folder_, Medium::page);
        const Drawn drawn = try_draw(drawing);
        if (drawn == Drawn::yes)
            if (auto svg = svg_for_page(content_of(drawing.picture), says)) return svg;
        if (drawn == Drawn::no_gnuplot)
            go_without(
                "gnuplot is not here, so the page has no pictures; install it (Debian: gnuplot-nox) and "
                "repeat: their numbers are in the page all the same");
        else
            base::log::warn(fmt::format(
                "gnuplot failed on the figure '{}', which the page lacks; its own message says why",
                chart.name));
    } catch (const base::EnvironmentError& error) {
        go_without(error.what());
    }
    return std::nullopt;
}

}  // namespace ranklab::report::figures
