#include "report/figures/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/utf8.hpp"
#include "base/whole_io.hpp"
#include "report/figures/words.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

constexpr int kNoGnuplot = 127;  // as a shell's

// This process's, with a locale that has all letters: in another one gnuplot warns of its own degree sign.
std::vector<char*> environment_of_gnuplot() {
    static char locale[] = "LC_ALL=C.UTF-8";
    std::vector<char*> variables;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
        if (!std::string_view(*variable).starts_with("LC_ALL=")) variables.push_back(*variable);
    variables.push_back(locale);
    variables.push_back(nullptr);
    return variables;
}

// The exit status of `gnuplot SCRIPT` in the script's folder.
int run_gnuplot(const fs::path& script) {
    const std::string folder = script.parent_path().empty() ? "." : script.parent_path().string();
    std::string program = "gnuplot", name = script.filename().string();
    char* const arguments[] = {program.data(), name.data(), nullptr};
    const auto variables = environment_of_gnuplot();
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        if (chdir(folder.c_str()) == 0) execvpe(program.c_str(), arguments, variables.data());
        _exit(kNoGnuplot);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
    std::string out;
    const std::string whole = cut(text, most);
    for (std::size_t at = 0; at < whole.size();) {
        const std::string_view rest = std::string_view(whole).substr(at);
        const base::Letter letter = base::first_letter(rest);
        out += letter.good && !base::steers(letter.code) ? letter.shown(rest) : "?";
        at += letter.bytes;
    }
    return out;
}

std::string gnuplot_quoted(std::string_view text, std::size_t most) {
    std::string out = "'";
    for (const char c : one_line(text, most)) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
}

std::string data_quoted(std::string_view text, std::size_t most) {
    std::string clean = one_line(text, most);
    std::ranges::replace(clean, '"', '\'');
    return '"' + clean + '"';
}

std::string gnuplot_head(const std::string& script, int width, int height) {
    return fmt::format(
        "# gnuplot {0}, in this folder\n"
        "reset\n"
        "if (exists('paper')) {{ ending = 'pdf'; set terminal pdfcairo size {3},{4} noenhanced fontscale 0.7 "
        "background rgb 'white' }} else {{ ending = 'svg'; set terminal svg size {1},{2} dynamic noenhanced "
        "background rgb 'white' }}\n"
        "set encoding utf8\nset datafile missing 'NaN'\n",
        script, width, height, width / 110.0, height / 110.0);
}

std::string gnuplot_tail(const std::string& script) {
    return fmt::format(
        "set output\n"
        "if (!exists('paper') && strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {{ paper = 1; load {} }}\n",
        gnuplot_quoted(script));
}

void write_plot_file(const fs::path& path, const std::string& text) {
    const auto file = base::open_regular<base::OptionError>(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) base::throw_errno("open", path, errno, "plots");
    if (!base::write_whole(file.get(), text)) base::throw_errno("write", path, errno, "plots");
}

bool is_drawn(double number) {
    return std::abs(number) < 1e300;
}

std::string plot_value(double number) {
    return is_drawn(number) ? fmt::format("{}", number) : "NaN";
}

std::string plot_text(double number) {
    return std::isfinite(number) ? fmt::format("{:.3g}", number) : "n/a";
}

// Not yerrorbars: those erase the point that they belong to.
std::string gnuplot_interval(const std::string& which, int low, const std::string& look) {
    return fmt::format("'' {} using 1:{}:(0):(${}-${}) with vectors heads size screen 0.004,90 {} notitle",
                       which, low, low + 1, low, look);
}

Drawn try_draw(const Drawing& drawing) {
    const int status = run_gnuplot(drawing.script);
    if (status == 0) return Drawn::yes;
    return status == kNoGnuplot ? Drawn::no_gnuplot : Drawn::failed;
}

void draw(const Drawing& drawing) {
    const Drawn drawn = try_draw(drawing);
    if (drawn == Drawn::yes) return;
    if (drawn == Drawn::no_gnuplot)
        throw base::EnvironmentError(
            fmt::format("gnuplot is not here, so nothing was drawn; install it (Debian: gnuplot-nox) and "
                        "repeat, or take '{}' with its data to where it is",
                        drawing.script.string()));
    throw base::EnvironmentError(
        fmt::format("gnuplot failed on '{}'; its own message says why", drawing.script.string()));
}

}  // namespace ranklab::report::figures
