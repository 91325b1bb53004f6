// --profile lines: the training loop as pseudo-code, with line_profiler's columns.
#include <algorithm>
#include <array>
#include <string>

#include "experiments/training/observer.hpp"

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
    bool each_batch;  ///< false: once per step
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

class Lines final : public StepObserver {
  public:
    explicit Lines(ObservedRun& observed)
        : StepObserver(observed), phases_(observed.steps.phases()) {}

    void after(const MadeStep& made) override {
        steps_s_ += made.times.step;
        for (std::size_t i = 0; i < device_s_.size(); ++i) device_s_[i] += made.times.phases[i];
        if (observed_.schedule.ends_epoch(made.step)) ++epochs_;
    }
    void end() override {
        batches_ = observed_.steps.batches();
        host_s_ = observed_.steps.host_seconds();
    }

    // Adds the table `lines`; its times are means over ranks.
    void fill(results::Run& run, RankMeasurements&) override {
        const auto lines = lines_here();
        std::vector<double> means;
        for (const auto& line : lines) means.insert(means.end(), {line.host_s, line.device_s});
        means = measure::sums_of_ranks(observed_.control, std::move(means));
        for (double& mean : means) mean /= base::real(observed_.control.world_size());
        double whole = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) whole += means[2 * i];
        results::Rows table("lines");
        for (std::size_t i = 0; i < lines.size(); ++i)
            table.add({static_cast<std::int64_t>(i) + 1, lines[i].hits, means[2 * i],
                       means[2 * i] / base::real(std::max<std::int64_t>(1, lines[i].hits)),
                       100 * means[2 * i] / whole, means[2 * i + 1], lines[i].contents});
        run.tables.push_back(std::move(table).table());
    }

  private:
    std::vector<Line> lines_here() const {
        std::vector<Line> all;
        double rest = steps_s_;
        for (const auto& of : kPhaseLines) {
            if (std::ranges::find(phases_, of.phase) == phases_.end()) continue;
            all.push_back(line_of(of));
            rest -= all.back().host_s;
        }
        all.push_back({"    sum += loss.item()", std::ssize(observed_.made), std::max(0.0, rest)});
        const auto add = [&](const char* contents, const LineTime& line) {
            if (line.hits > 0) all.push_back({contents, line.hits, line.seconds});
        };
        const auto& times = observed_.lines;
        add("    progress.update(loss)", times.progress);
        add("    if step % 10 == 0: log(loss)", times.logging);
        add("    check_ranks()", times.checks);
        add("evaluate(model, test)", times.evaluation);
        return all;
    }

    Line line_of(const PhaseLine& of) const {
        const auto i = base::number_of(of.phase);
        Line line{of.contents, of.each_batch ? batches_ : std::ssize(observed_.made), host_s_[i]};
        if (of.phase == Phase::data)
            line.hits += epochs_;  // the loop also asks for a batch at an epoch's end
        if (!observed_.steps.gpus().empty()) line.device_s = device_s_[i];
        return line;
    }

    std::vector<Phase> phases_;
    std::int64_t epochs_ = 0, batches_ = 0;
    double steps_s_ = 0;
    std::array<double, base::kPhaseCount> host_s_{}, device_s_{};
};

}  // namespace

ObserverEntry lines_entry() {
    return {.wanted = [](auto& options) { return options.profiles("lines"); },
            .make = make_observer<Lines>};
}

}  // namespace ranklab::experiments
