// Pictures of gnuplot's scripts.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/whole_io.hpp"
#include "report/figures/draw.hpp"
#include "report/figures/figure.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

constexpr int kNoGnuplot = 127;  // as a shell's

// The exit status of `gnuplot -e "ending='svg'" SCRIPT` in the script's folder.
int run_gnuplot(const fs::path& script, const std::string& ending) {
    std::string program = "gnuplot", e = "-e", set = "ending='" + ending + "'",
                name = script.filename().string();
    char* const arguments[] = {program.data(), e.data(), set.data(), name.data(), nullptr};
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        setenv("LC_ALL", "C.UTF-8", 1);  // in another one gnuplot warns of its own degree sign
        if (chdir(script.parent_path().c_str()) == 0) execvp(program.c_str(), arguments);
        _exit(kNoGnuplot);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

}  // namespace

void write_plot_file(const fs::path& path, const std::string& text) {
    const auto file = base::open_regular<base::OptionError>(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) base::throw_errno("open", path, errno, "plots");
    if (!base::write_whole(file.get(), text)) base::throw_errno("write", path, errno, "plots");
}

std::string draw(const fs::path& script, const std::string& ending) {
    const int status = run_gnuplot(script, ending);
    if (status == 0) return "";
    if (status == kNoGnuplot) return "gnuplot is not here; install it (Debian: gnuplot-nox) and repeat";
    return fmt::format("gnuplot failed on '{}'; its own message says why", script.string());
}

std::optional<std::string> draw_svg(const Figure& figure, std::string& why_not) {
    std::string name = (fs::temp_directory_path() / "ranklab-report-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        why_not = "no temporary folder could be made; set TMPDIR to one that is writable";
        return std::nullopt;
    }
    const fs::path folder = name, script = folder / (figure.name + ".gp");
    std::optional<std::string> svg;
    try {
        write_plot_file(script, script_of(figure));
        why_not = draw(script, "svg");
        if (why_not.empty()) {
            std::ifstream file(folder / (figure.name + ".svg"), std::ios::binary);
            svg.emplace(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        }
    } catch (const base::Error& error) {
        why_not = error.what();
    }
    std::error_code ignored;  // nothing depends on it
    fs::remove_all(folder, ignored);
    return svg;
}

}  // namespace ranklab::report::figures
