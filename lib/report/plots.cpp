#include "report/plots.hpp"

#include "base/error.hpp"
#include "report/gnuplot.hpp"
#include "report/plot_io_scaling.hpp"
#include "report/plot_ladder.hpp"
#include "report/plot_losses.hpp"

namespace ranklab::report {

std::vector<std::filesystem::path> plot(const std::vector<results::Run>& runs,
                                        const std::filesystem::path& folder) {
    std::error_code error;  // the first file that cannot be written says it
    std::filesystem::create_directories(folder, error);
    std::vector<Drawing> drawings;
    for (const auto prepare : {prepare_losses, prepare_ladder, prepare_io_scaling})
        if (const auto drawing = prepare(runs, folder)) drawings.push_back(*drawing);
    if (drawings.empty())
        throw base::OptionError(
            "no run in this file has training losses or job times of io to draw; `ranklab train` and "
            "`ranklab io` "
            "store them");
    std::vector<std::filesystem::path> files;
    for (const auto& drawing : drawings) {
        draw(drawing);
        files.insert(files.end(), drawing.written.begin(), drawing.written.end());
        files.insert(files.end(), drawing.pictures.begin(), drawing.pictures.end());
    }
    return files;
}

}  // namespace ranklab::report
