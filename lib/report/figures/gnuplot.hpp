// Private to this room: pictures by gnuplot, each as a script and a data file that stay beside it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ranklab::report::figures {

/// What a picture needs, written and not yet drawn: `script` makes `picture` from `data`. All lie in one
/// folder.
struct Drawing {
    std::filesystem::path data, script;
    std::filesystem::path picture;  ///< the .svg; it may have a .pdf beside it
};

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
std::string plot_text(double number);

/// A plot's element: a line with ends from column `low` to column low + 1, at the x of column 1, of the data
/// file named last. Where they are no numbers there is none.
std::string gnuplot_interval(const std::string& which, int low, const std::string& look);

enum class Drawn { yes, no_gnuplot, failed };
Drawn try_draw(const Drawing& drawing);
/// Makes the picture. EnvironmentError where gnuplot is missing or fails: data and script are there all the
/// same.
void draw(const Drawing& drawing);

}  // namespace ranklab::report::figures
