// Private to this room: pictures by gnuplot, each as a script and a data file that stay beside it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ranklab::report::figures {

/// What a picture needs, written and not yet drawn: `script` makes `picture` from `data`. All lie in one
/// folder.
struct Drawing {
    std::filesystem::path data, script;
    std::filesystem::path picture;  ///< the .svg; it may have a .pdf beside it
};

/// At most `most` letters. What would move the cursor or turn the direction of writing is no part of a
/// picture.
std::string one_line(std::string_view text, std::size_t most);
/// In gnuplot's single quotes, where nothing else means anything; at most `most` letters.
std::string gnuplot_quoted(std::string_view text, std::size_t most = 200);
/// In double quotes, as a .dat file has texts with blanks.
std::string data_quoted(std::string_view text, std::size_t most);

/// The first lines of a script: how to repeat it, and the terminal. The variable `ending` is what the names
/// of its pictures end in: 'svg', or 'pdf' in the second turn that gnuplot_tail asks for.
std::string gnuplot_head(const std::string& script, int width, int height);
/// The last line: the same once more as .pdf, where this gnuplot can.
std::string gnuplot_tail(const std::string& script);

/// EnvironmentError where it cannot be written.
void write_plot_file(const std::filesystem::path& path, const std::string& text);

/// For a .dat file: a number that reads back to the same double, or the word for none that gnuplot_head's
/// scripts know; and for a person's eye, three significant digits or "n/a".
std::string plot_value(double number);
/// Whether gnuplot can make room for it on an axis.
bool is_drawn(double number);
std::string plot_text(double number);

/// A plot's element: a line with ends from column `low` to column low + 1, at the x of column 1, of the data
/// file named last. Where they are no numbers there is none.
std::string gnuplot_interval(const std::string& which, int low, const std::string& look);

/// Where an axis has marks, and what stands at them, so that labels are few and short.
struct Tic {
    double at = 0;
    std::string text;
};

/// Those of `values` whose labels have room beside each other: on long lists the first, the last and some
/// between.
std::vector<Tic> plain_tics(const std::vector<double>& values);
/// Of a logarithmic axis from `low` to `high` > 0: powers of ten, or 1, 2, 5, 10, ... where those are few.
std::vector<Tic> decimal_tics(double low, double high);
/// The same for seconds: "20 us", "1 ms".
std::vector<Tic> second_tics(double low, double high);
/// Of a logarithmic axis of bytes: at most five powers of two, "64 KiB", "1 MiB".
std::vector<Tic> byte_tics(double low, double high);

/// gnuplot's command for axis "x" or "y"; "" without tics, which leaves gnuplot its own.
std::string axis_tics(const char* axis, const std::vector<Tic>& tics);

enum class Drawn { yes, no_gnuplot, failed };
Drawn try_draw(const Drawing& drawing);
/// Makes the picture. EnvironmentError where gnuplot is missing or fails: data and script are there all the
/// same.
void draw(const Drawing& drawing);

}  // namespace ranklab::report::figures
