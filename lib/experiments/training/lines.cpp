#include "experiments/training/lines.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

using base::Phase;

struct Line {
    std::string contents;
    std::int64_t hits = 0;
    double host_s = 0;
    double device_s = stats::kNone;
};

struct PhaseLine {
    Phase phase;
    const char* contents;
    bool each_batch;  ///< else once a step
};
constexpr PhaseLine kPhaseLines[] = {
    {Phase::data, "for batch in loader:", true},
    {Phase::copy, "    x, y = batch.to(device)", true},
    {Phase::scatter, "    parts = scatter(x, y)", true},
    {Phase::replicate, "    replicas = replicate(model)", true},
    {Phase::forward, "    loss = loss_of(model(x), y)", true},
    {Phase::gather, "    loss = gather(losses)", true},
    {Phase::backward, "    loss.backward()", true},
    {Phase::reduce, "    reduce(gradients)", true},
    {Phase::sync, "    sync.finish()", false},
    {Phase::optimizer, "    optimizer.step()", false},
};

Line line_of(const PhaseLine& of, const LineTimes& lines,
             std::span<const measure::StepTimes> steps) {
    const auto index = base::number_of(of.phase);
    const auto made = static_cast<std::int64_t>(steps.size());
    Line line{of.contents, of.each_batch ? lines.batches : made, lines.host[index]};
    if (of.phase == Phase::data) line.hits += lines.epochs;  // its end is asked for, too
    if (!lines.on_device) return line;
    line.device_s = 0;
    for (const auto& step : steps) line.device_s += step.phases[index];
    return line;
}

std::vector<Line> lines_of(const LineTimes& lines, const std::vector<Phase>& phases,
                           std::span<const measure::StepTimes> steps) {
    std::vector<Line> all;
    double rest = 0;
    for (const auto& step : steps) rest += step.step;
    for (const auto& of : kPhaseLines) {
        if (std::ranges::find(phases, of.phase) == phases.end()) continue;
        all.push_back(line_of(of, lines, steps));
        rest -= all.back().host_s;
    }
    const auto made = static_cast<std::int64_t>(steps.size());
    all.push_back({"    sum += loss.item()", made, std::max(0.0, rest)});
    const auto add = [&](const char* contents, const LineTime& line) {
        if (line.hits > 0) all.push_back({contents, line.hits, line.seconds});
    };
    add("    progress.update(loss)", lines.progress);
    add("    if step % 10 == 0: log(loss)", lines.logging);
    add("    check_ranks()", lines.checks);
    add("evaluate(model, test)", lines.evaluation);
    return all;
}

}  // namespace

void add_lines(results::Run& run, const LineTimes& lines, const std::vector<Phase>& phases,
               std::span<const measure::StepTimes> steps, comm::Communicator& control) {
    if (!lines.wanted) return;
    const auto all = lines_of(lines, phases, steps);
    std::vector<double> mine;
    for (const auto& line : all) {
        mine.push_back(line.host_s);
        mine.push_back(line.device_s);
    }
    auto means = measure::sums_of_ranks(control, mine);
    for (double& mean : means) mean /= base::real(control.world_size());
    double whole = 0;
    for (std::size_t i = 0; i < all.size(); ++i) whole += means[2 * i];
    results::Rows table("lines");
    for (std::size_t i = 0; i < all.size(); ++i)
        table.add({static_cast<std::int64_t>(i) + 1, all[i].hits, means[2 * i],
                   means[2 * i] / base::real(std::max<std::int64_t>(1, all[i].hits)),
                   100 * means[2 * i] / whole, means[2 * i + 1], all[i].contents});
    run.tables.push_back(std::move(table).table());
}

}  // namespace ranklab::experiments
