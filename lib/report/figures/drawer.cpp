#include "report/figures/drawer.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/log.hpp"

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

// From each `begin` up to and with the next `end`.
void cut_all(std::string& text, const std::string& begin, const std::string& end) {
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        const std::size_t stop = text.find(end, at + begin.size());
        if (stop == std::string::npos) return;
        text.erase(at, stop + end.size() - at);
    }
}

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<Svg> svg_for_page(std::string picture) {
    const std::string box = "viewBox=\"", symbols = "</defs>";
    const std::size_t view = picture.find(box);
    const std::size_t body = picture.find(symbols);
    const std::size_t end = picture.rfind("</g>\n</svg>");
    if (view == std::string::npos || body == std::string::npos || end == std::string::npos)
        return std::nullopt;
    const std::size_t begin = view + box.size();
    Svg svg{picture.substr(begin, picture.find('"', begin) - begin),
            picture.substr(body + symbols.size(), end - body - symbols.size())};
    cut_all(svg.drawing, "<title>", "</title>");
    replace_all(svg.drawing, "xlink:href", "href");
    return svg;
}

Drawer::Drawer() {
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

std::optional<Svg> Drawer::draw(const Chart& chart) {
    if (!why_not_.empty()) return std::nullopt;
    try {
        const Drawing drawing = prepare_chart(chart, {}, folder_, Medium::page);
        const Drawn drawn = try_draw(drawing);
        if (drawn == Drawn::yes)
            if (auto svg = svg_for_page(content_of(drawing.picture))) return svg;
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
