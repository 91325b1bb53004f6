// Private to these rooms: charts drawn by gnuplot as SVG that stands in a page.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "report/figures/chart.hpp"

namespace ranklab::report::figures {

/// What stands in a page's <svg> element. The page has the symbols at the points (templates/symbols.html),
/// and its own colours instead of gnuplot's (templates/style.css).
struct Svg {
    std::string view_box, drawing;
};
/// Of gnuplot's picture; nothing where that is none. `says` gives the markup that stands in place of an
/// element's title; "" leaves the title out. Exposed for its test.
using SaysTitle = std::function<std::string(std::string_view title)>;
std::optional<Svg> svg_for_page(std::string picture, const SaysTitle& says);

/// Draws in a temporary folder of its own. Where gnuplot is missing or fails there are no pictures, and the
/// first time that goes to the log.
class Drawer {
  public:
    /// `escape` makes a text fit for markup.
    explicit Drawer(std::function<std::string(std::string_view)> escape);
    ~Drawer();
    Drawer(const Drawer&) = delete;
    Drawer& operator=(const Drawer&) = delete;

    /// Nothing where it could not be drawn.
    std::optional<Svg> draw(const Chart& chart);
    /// Why the picture asked for last is not there.
    std::string why_not() const { return why_not_.empty() ? "gnuplot failed on this figure" : why_not_; }

  private:
    void go_without(const std::string& why);

    std::function<std::string(std::string_view)> escape_;
    std::filesystem::path folder_;
    std::string why_not_;  ///< gnuplot is missing: no second try
};

}  // namespace ranklab::report::figures
