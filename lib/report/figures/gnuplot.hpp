// Private to this room: pictures by gnuplot, as a script and data files that stay beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ranklab::report::figures {

/// What a picture needs, written and not yet drawn: `script` makes `pictures` from the other `written` files.
/// All lie in one folder.
struct Drawing {
    std::vector<std::filesystem::path> written;  ///< the script among them
    std::filesystem::path script;
    std::vector<std::filesystem::path> pictures;  ///< the .svg; each may have a .pdf beside it
};

/// In gnuplot's single quotes, where nothing else means anything; printable ASCII, 200 characters at most.
std::string gnuplot_quoted(const std::string& text);

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

/// Writes FOLDER/PICTURE.dat and FOLDER/NAME.gp, whose script makes PICTURE.svg (and .pdf).
Drawing write_drawing(const std::filesystem::path& folder, const std::string& name,
                      const std::string& picture, const std::string& data, const std::string& script);

enum class Drawn { yes, no_gnuplot, failed };
Drawn try_draw(const Drawing& drawing);
/// Makes the pictures. EnvironmentError where gnuplot is missing or fails: data and scripts are there all the
/// same.
void draw(const Drawing& drawing);

}  // namespace ranklab::report::figures
