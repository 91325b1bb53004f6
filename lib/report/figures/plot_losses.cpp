#include "report/figures/plot_losses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;
using results::Measurement;
using results::Run;

struct Picture {
    const char* file;
    const char* axis;
    int x, y;  // columns of the .dat files
    const char* label;
};
constexpr Picture kPictures[] = {
    {"loss_steps", "optimizer steps", 1, 4, "training loss (mean over the global batch)"},
    {"loss_samples", "samples", 2, 4, "training loss (mean over the global batch)"},
    {"loss_seconds", "time of the steps [s]", 3, 4, "training loss (mean over the global batch)"},
    {"learning_rate", "optimizer steps", 1, 5, "learning rate"}};
constexpr const char* kScript = "plot_losses.gp";
constexpr std::size_t kMostPoints = 20000;  // of a curve: of longer ones every 2nd, 3rd, ... step is drawn
constexpr std::size_t kMostCurves = 20;     // of more nobody can tell one from another, nor does the key fit

// Each row's largest, warm-up rows first.
std::vector<double> rows_of(const Run& run, const std::string& name) {
    std::vector<double> rows;
    const Measurement* m = run.find(name);
    if (m == nullptr || m->columns == 0) return rows;
    for (std::size_t i = 0; i + m->columns <= m->warmup.size(); i += m->columns) {
        const auto begin = m->warmup.begin() + static_cast<std::ptrdiff_t>(i);
        rows.push_back(*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(m->columns)));
    }
    const auto counted = m->largest_of_rows();
    rows.insert(rows.end(), counted.begin(), counted.end());
    return rows;
}

const std::vector<std::int64_t>* epochs_column(const Run& run, const std::string& name) {
    const results::Table* epochs = run.find_table("epochs");
    return epochs == nullptr ? nullptr : epochs->find<std::int64_t>(name);
}

// An epoch's steps share its samples; each has a whole global batch but the last, which has what is left.
std::vector<double> samples_after_steps(const Run& run, std::size_t steps) {
    const auto* of_epochs = epochs_column(run, "samples");
    const auto* lengths = epochs_column(run, "steps");
    double batch = 0;
    const auto text = run.setting("global-batch-size");
    if (!text.empty()) batch = std::strtod(text.c_str(), nullptr);
    std::vector<double> samples;
    double before = 0;
    for (std::size_t e = 0; of_epochs != nullptr && lengths != nullptr && e < of_epochs->size(); ++e) {
        const auto whole = static_cast<double>((*of_epochs)[e]);
        for (std::int64_t step = 1; step <= (*lengths)[e]; ++step) {
            const double so_far = std::min(whole, static_cast<double>(step) * batch);
            samples.push_back(before + (step == (*lengths)[e] ? whole : so_far));
        }
        before += whole;
    }
    if (samples.size() != steps) samples.clear();
    return samples;
}

std::string title_of(const Run& run) {
    const auto batch = run.setting("global-batch-size");
    const auto scaling = run.setting("lr-scaling");
    std::string title = batch.empty() ? run.id : fmt::format("global batch {}", batch);
    if (!scaling.empty()) title += fmt::format(", lr scaling {}", scaling);
    if (!run.label.empty()) title += fmt::format(" ({})", run.label);
    return run.valid ? title : title + " INVALID";
}

std::string data_of(const LossCurve& curve) {
    std::string text = "# step samples seconds train_loss learning_rate\n";
    const std::size_t every = curve.loss.size() / kMostPoints + 1;
    for (std::size_t i = 0; i < curve.loss.size(); i += every)
        text += fmt::format("{} {} {} {} {}\n", i + 1, curve.samples[i], curve.seconds[i], curve.loss[i],
                            curve.rate.empty() ? "NaN" : fmt::format("{}", curve.rate[i]));
    return text;
}

struct Line {
    std::string data, title;
};

// gnuplot refuses a picture without a single point.
std::vector<Picture> pictures_of(bool rates) {
    std::vector<Picture> pictures(std::begin(kPictures), std::end(kPictures));
    if (!rates) pictures.pop_back();
    return pictures;
}

// In the order stored; `left_out`: how many more have losses.
std::vector<const Run*> newest_with_losses(const std::vector<Run>& runs, std::size_t& left_out) {
    std::vector<const Run*> newest;
    for (const auto& run : runs) {
        const Measurement* m = run.find("train_loss");
        if (m != nullptr && m->rows() > 0) newest.push_back(&run);
    }
    left_out = newest.size() > kMostCurves ? newest.size() - kMostCurves : 0;
    newest.erase(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(left_out));
    return newest;
}

std::string script_of(const std::vector<Line>& lines, const std::vector<Picture>& pictures,
                      std::size_t left_out) {
    std::string text = gnuplot_head(kScript, 960, 640) + "set grid\nset key outside below\n";
    if (left_out > 0)
        text += fmt::format("set title 'the newest {} of {} runs; choose others with --where or --last'\n",
                            lines.size(), lines.size() + left_out);
    for (const auto& picture : pictures) {
        text +=
            fmt::format("set output '{}.'.ending\nset xlabel '{}'\nset ylabel '{}'\nset yrange [0:*]\nplot",
                        picture.file, picture.axis, picture.label);
        for (std::size_t i = 0; i < lines.size(); ++i)
            text += fmt::format("{} {} using {}:{} with lines title {}", i == 0 ? "" : ",",
                                gnuplot_quoted(lines[i].data), picture.x, picture.y,
                                gnuplot_quoted(lines[i].title));
        text += "\n";
    }
    return text + gnuplot_tail(kScript);
}

}  // namespace

LossCurve loss_curve(const Run& run) {
    LossCurve curve{title_of(run), {}, {}, rows_of(run, "train_loss"), rows_of(run, "learning_rate")};
    curve.seconds = rows_of(run, "step_time_s");
    const std::size_t steps = curve.loss.size();
    curve.samples = samples_after_steps(run, steps);
    for (std::size_t i = 1; i < curve.seconds.size(); ++i) curve.seconds[i] += curve.seconds[i - 1];
    if (curve.rate.size() != steps) curve.rate.clear();
    if (curve.seconds.size() != steps || curve.samples.size() != steps) return {curve.title, {}, {}, {}, {}};
    return curve;
}

std::optional<Drawing> prepare_losses(const std::vector<Run>& runs, const fs::path& folder) {
    std::vector<Line> lines;
    Drawing drawing;
    bool rates = false;
    std::size_t left_out = 0;
    for (const Run* run : newest_with_losses(runs, left_out)) {
        const LossCurve curve = loss_curve(*run);
        if (curve.loss.empty()) continue;
        drawing.written.push_back(folder / (run->id + ".dat"));
        write_plot_file(drawing.written.back(), data_of(curve));
        rates = rates || !curve.rate.empty();
        lines.push_back({drawing.written.back().filename().string(), curve.title});
    }
    if (lines.empty()) return std::nullopt;
    const auto pictures = pictures_of(rates);
    drawing.script = folder / kScript;
    drawing.written.push_back(drawing.script);
    write_plot_file(drawing.script, script_of(lines, pictures, left_out));
    for (const auto& picture : pictures)
        drawing.pictures.push_back(folder / (std::string(picture.file) + ".svg"));
    return drawing;
}

}  // namespace ranklab::report::figures
