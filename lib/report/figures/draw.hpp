// Private to this room: pictures by gnuplot, each from a script that stays beside it.
#pragma once

#include <filesystem>
#include <string>

namespace ranklab::report::figures {

/// EnvironmentError where it cannot be written.
void write_plot_file(const std::filesystem::path& path, const std::string& text);
/// Makes the picture of that ending ("svg") beside the script. "" where it did; otherwise why not.
std::string draw(const std::filesystem::path& script, const std::string& ending);

}  // namespace ranklab::report::figures
