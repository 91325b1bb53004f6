// Private to this room: charts on a page, drawn by gnuplot into inline SVG, each with its numbers.
#pragma once

#include <filesystem>
#include <string>

#include "base/pinned.hpp"
#include "report/figures/chart.hpp"

namespace ranklab::report::page {

struct Figure {
    figures::Chart chart;
    std::string caption;     ///< HTML
    std::string table = "";  ///< HTML of its numbers; "": one is made of the points' texts
};

/// Draws in a temporary folder of its own. Where gnuplot is missing or fails, figures have a sentence in the
/// picture's place, and the first time one goes to the log.
class Drawer : base::Pinned {
  public:
    Drawer();
    ~Drawer();

    /// <figure>: picture, legend, caption, numbers. "" for a chart without a number.
    std::string html(const Figure& figure);
    /// Figures side by side where the page is wide.
    std::string row(const std::vector<Figure>& figures);

  private:
    std::string picture(const figures::Chart& chart);
    std::string without(const std::string& why);

    std::filesystem::path folder_;
    std::string why_not_;  ///< gnuplot is missing: no second try
};

/// gnuplot's SVG fit to stand in a page: no size, background, font or identity of its own, black as the
/// page's text colour, series in the page's colours. Exposed for its test.
std::string inline_svg(const std::string& svg, const std::string& name);

}  // namespace ranklab::report::page
