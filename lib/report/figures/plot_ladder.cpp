#include "report/figures/plot_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/model/io_ladder.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;
using results::Run;

constexpr double kLogarithmicFrom = 20;  // largest / smallest
constexpr int kNoteHeight = 18;          // pixels
constexpr std::size_t kMostNote = 155;   // characters: the picture's width

// In double quotes, as a .dat file has texts with blanks.
std::string data_text(const std::string& text) {
    std::string clean = base::printable(text, 60);
    std::replace(clean.begin(), clean.end(), '"', '\'');
    return '"' + clean + '"';
}

// What one panel shows of each row: a number, its interval, and a text above it.
struct Bar {
    double middle = stats::kNone;
    stats::Interval interval;
    std::string text;
    double top() const { return std::isnan(interval.high) ? middle : std::max(middle, interval.high); }
};

struct Panel {
    std::string axis;
    std::vector<Bar> bars;
    int column;  // of ladder.dat where the bars' numbers begin: middle low high top text

    double smallest() const {
        double found = INFINITY;
        for (const auto& bar : bars)
            if (bar.middle > 0) found = std::min(found, bar.middle);
        return found;
    }
    double largest() const {
        double found = 0;
        for (const auto& bar : bars)
            if (bar.top() > 0) found = std::max(found, bar.top());
        return found;
    }
    bool logarithmic() const { return largest() > kLogarithmicFrom * smallest(); }
    bool has_intervals() const {
        return std::any_of(bars.begin(), bars.end(),
                           [](const Bar& bar) { return !std::isnan(bar.interval.low); });
    }
};

Panel time_panel(const std::vector<model::LadderRow>& rows) {
    Panel panel{"job time [s]", {}, 3};
    for (const auto& row : rows)
        panel.bars.push_back({row.time.median_s, row.time.s, plot_text(row.time.median_s)});
    return panel;
}

Panel speedup_panel(const std::vector<model::LadderRow>& rows) {
    const model::LadderRow& base = model::base_of(rows);
    Panel panel{"speedup", {}, 8};
    for (const auto& row : rows) {
        model::Speedup found = model::speedup(base.time, row.time);
        if (&row == &base) found = {1, {}};  // by definition
        panel.bars.push_back({found.ratio, found.interval, plot_text(found.ratio)});
    }
    return panel;
}

std::string bar_data(const Bar& bar) {
    return fmt::format("{} {} {} {} {}", plot_value(bar.middle), plot_value(bar.interval.low),
                       plot_value(bar.interval.high), plot_value(bar.top()), data_text(bar.text));
}

// The distinct marks, in the order of the rows; and of each row the number of its mark, 0 for none.
struct Marks {
    std::vector<std::string> texts;
    std::vector<std::size_t> of_row;
};

Marks marks_of(const std::vector<model::LadderRow>& rows) {
    Marks marks;
    for (const auto& row : rows) {
        const auto known = std::find(marks.texts.begin(), marks.texts.end(), row.mark);
        const auto number = static_cast<std::size_t>(known - marks.texts.begin()) + 1;
        if (!row.mark.empty() && known == marks.texts.end()) marks.texts.push_back(row.mark);
        marks.of_row.push_back(row.mark.empty() ? 0 : number);
    }
    return marks;
}

std::string ladder_data(const std::vector<model::LadderRow>& rows, const Marks& marks, const Panel& times,
                        const Panel& speedups) {
    const auto labels = model::ladder_labels(rows);
    std::string text =
        "# row rung job_time_s low high top label speedup low high top label (95 % intervals; NaN below n = "
        "6)\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string mark = marks.of_row[i] == 0 ? "" : fmt::format(" [{}]", marks.of_row[i]);
        text += fmt::format("{} {} {} {}\n", i + 1, data_text(labels[i] + mark), bar_data(times.bars[i]),
                            bar_data(speedups.bars[i]));
    }
    return text;
}

std::vector<std::string> ladder_notes(const std::vector<model::LadderRow>& rows, const Panel& times,
                                      const Marks& marks) {
    std::vector<std::string> notes;
    const model::LadderRow& base = model::base_of(rows);
    const auto name = model::ladder_labels(rows)[static_cast<std::size_t>(&base - rows.data())];
    const std::string over = fmt::format("Speedup over {} ({} s).", name, plot_text(base.time.median_s));
    if (times.has_intervals()) {
        notes.emplace_back(
            "Bars: medians over repetitions. Lines: 95 % intervals of the median, none below 6 repetitions.");
        notes.push_back(
            over +
            " Its interval is the widest that both times allow: base.low / time.high, base.high / time.low.");
    } else {
        notes.push_back("Bars: medians over repetitions; fewer than 6, so there are no intervals. " + over);
    }
    for (std::size_t i = 0; i < marks.texts.size(); ++i)
        notes.push_back(fmt::format("[{}] {}", i + 1, marks.texts[i]));
    return notes;
}

// The names below the bars, slanted: the longest takes this much room.
class Names {
  public:
    explicit Names(const std::vector<model::LadderRow>& rows) {
        for (const auto& label : model::ladder_labels(rows))
            longest_ = std::max(longest_, label.size() + 4);  // " [1]"
    }
    int angle() const { return longest_ > 30 ? 45 : 24; }
    int height() const {
        return 20 + static_cast<int>(static_cast<double>(longest_) * (angle() == 45 ? 5.0 : 2.9));
    }

  private:
    std::size_t longest_ = 0;
};

// From the bottom of the picture, which is `height` pixels high.
std::string notes_script(const std::vector<std::string>& notes, int height) {
    std::string text;
    for (std::size_t i = 0; i < notes.size(); ++i) {
        const double from_bottom = (static_cast<double>(notes.size() - i) - 0.3) * kNoteHeight;
        text += fmt::format("set label {} {} at screen 0.02, screen {:.4f} font ',10'\n", i + 1,
                            gnuplot_quoted(base::printable(notes[i], kMostNote)), from_bottom / height);
    }
    return text;
}

// Linear axes begin at 0. Logarithmic ones have no such place: theirs begins below the smallest.
std::string range_script(const Panel& panel) {
    const double most = panel.largest() > 0 ? panel.largest() : 1;
    if (!panel.logarithmic())
        return fmt::format("unset logscale y\nset yrange [0:{}]\nset ylabel {}\n", 1.15 * most,
                           gnuplot_quoted(panel.axis));
    return fmt::format("set logscale y\nset yrange [{}:{}]\nset ylabel {}\n", panel.smallest() / 2,
                       2.5 * most, gnuplot_quoted(panel.axis + ", logarithmic"));
}

std::string panel_script(const Panel& panel, const char* names, const char* colour) {
    const int c = panel.column;
    std::string text = range_script(panel);
    text += fmt::format("plot 'ladder.dat' using 1:{}{} with boxes linecolor rgb '{}'", c, names, colour);
    if (panel.has_intervals())
        text += ", " + gnuplot_interval("", c + 1, "linecolor rgb 'black' linewidth 1.5");
    return text + fmt::format(", '' using 1:{}:{} with labels offset 0,0.7 font ',11'\n", c + 3, c + 4);
}

std::string ladder_script(const model::Ladder& ladder, const Panel& times, const Panel& speedups,
                          const Marks& marks) {
    const auto notes = ladder_notes(ladder.rows, times, marks);
    const int below = kNoteHeight * static_cast<int>(notes.size()) + 8;
    const Names names(ladder.rows);
    const int height = 685 + names.height() + below;
    const auto screen = [&](int from_bottom) {
        return fmt::format("screen {:.4f}", (below + from_bottom) / static_cast<double>(height));
    };
    return gnuplot_head("plot_ladder.gp", 1000, height) +
           "set output 'ladder.'.ending\n"
           "unset key\nset style fill solid 0.7 noborder\nset boxwidth 0.65\nset grid ytics\nset xtics "
           "nomirror\n" +
           fmt::format("set xrange [0.4:{}.6]\nset lmargin at screen 0.11\nset rmargin at screen 0.98\n",
                       ladder.rows.size()) +
           fmt::format("set multiplot title {} font ',14'\n",
                       gnuplot_quoted("The file-writing ladder: " + ladder.title)) +
           fmt::format("set tmargin at {}\nset bmargin at {}\nunset xtics\n", screen(names.height() + 640),
                       screen(names.height() + 330)) +
           panel_script(times, "", "#4477aa") +
           fmt::format(
               "set tmargin at {}\nset bmargin at {}\nset xtics nomirror scale 0 rotate by {} right\n",
               screen(names.height() + 310), screen(names.height()), names.angle()) +
           notes_script(notes, height) +
           "set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead dashtype 2 linecolor rgb "
           "'gray40'\n" +
           panel_script(speedups, ":xtic(2)", "#66aa77") + "unset multiplot\n" +
           gnuplot_tail("plot_ladder.gp");
}

}  // namespace

std::optional<Drawing> prepare_ladder(const std::vector<Run>& runs, const fs::path& folder) {
    const model::Ladder ladder = model::newest_ladder(runs);
    if (ladder.rows.empty()) return std::nullopt;
    const Panel times = time_panel(ladder.rows);
    const Panel speedups = speedup_panel(ladder.rows);
    const Marks marks = marks_of(ladder.rows);
    return write_drawing(folder, "plot_ladder", "ladder", ladder_data(ladder.rows, marks, times, speedups),
                         ladder_script(ladder, times, speedups, marks));
}

}  // namespace ranklab::report::figures
