#include "experiments/training/ablation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/training/observer.hpp"
#include "stats/interval.hpp"

namespace ranklab::experiments {
namespace {

// Standard deviation of the population, as benchy computes it.
double deviation_of(const std::vector<double>& values) {
    const double mean = stats::mean_of_finite(values);
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / base::real(std::ssize(values)));
}

std::vector<TrialTimes> of_kind(const std::vector<TrialTimes>& trials, Trial kind) {
    std::vector<TrialTimes> some;
    std::copy_if(trials.begin(), trials.end(), std::back_inserter(some),
                 [kind](const TrialTimes& t) { return t.trial == kind; });
    return some;
}

// Returns the mean over trials of the time of a step.
double step_time(const std::vector<TrialTimes>& trials, Trial kind,
                 double (TrialTimes::*of)() const) {
    std::vector<double> times;
    for (const auto& t : of_kind(trials, kind))
        times.push_back((t.*of)() / static_cast<double>(t.steps));
    return stats::mean_of_finite(times);
}

results::Measurement throughput(const std::vector<TrialTimes>& trials, std::string_view name) {
    return rate(fmt::format("throughput_{}_samples_per_s", name), "trial",
                column_of(trials, &TrialTimes::samples), column_of(trials, &TrialTimes::longest));
}

bool is_silent(Trial trial) {
    return trial == Trial::nocomm || trial == Trial::compute;
}

Input input_of(Trial trial) {
    if (trial == Trial::io) return Input::io_only;
    return trial == Trial::synthetic || trial == Trial::compute ? Input::synthetic : Input::real;
}

class Trials {
  public:
    explicit Trials(ObservedRun& observed)
        : observed_(observed), steps_(observed.steps), count_(*observed.options.settings.steps) {
        // In the first step the ranks agree on the order of their buckets. That step must not be
        // part of a trial without communication.
        steps_.plan(next_, next_ + 1);
        steps_.make(next_++);
    }

    TrialTimes make(Trial trial) {
        steps_.set_input(input_of(trial));
        steps_.silence(is_silent(trial));
        steps_.plan(next_, next_ + count_ + 1);
        // The first step finds no batches made ahead: it is not timed.
        steps_.make(next_);
        observed_.control.barrier();
        TrialTimes times{.trial = trial, .seconds = {}, .steps = count_};
        const double mine = make_steps(times);
        next_ += count_ + 1;
        steps_.silence(false);
        steps_.set_input(Input::real);
        times.seconds = comm::gather_values(observed_.control, mine);
        // Without communication the ranks drift apart.
        if (is_silent(trial)) steps_.make_ranks_equal();
        return times;
    }

  private:
    // Returns the seconds of this rank's steps, without the checks for stop signals between them.
    double make_steps(TrialTimes& times) {
        double spent = 0;
        observed_.end.restart();
        for (std::int64_t i = 1; i <= count_; ++i) {
            const auto start = base::Clock::now();
            const auto made = steps_.make(next_ + i);
            spent += base::seconds_since(start);
            times.samples += made.unrepeated;
            ++times.made;
            if (observed_.end.asked()) break;
        }
        return spent;
    }

    ObservedRun& observed_;
    TrainingSteps& steps_;
    std::int64_t count_;  // timed steps of a trial
    std::int64_t next_ = 0;
};

}  // namespace

std::vector<TrialTimes> make_trials(ObservedRun& observed) {
    std::vector<TrialTimes> all;
    if (observed.end.failed) return all;
    std::vector<Trial> round{Trial::io, Trial::synthetic, Trial::full};
    if (observed.control.world_size() > 1 && observed.steps.keeps_ranks_equal())
        round.insert(round.end(), {Trial::nocomm, Trial::compute});
    const auto& stop = observed.end;
    const std::int64_t rounds = *observed.options.settings.repetitions;
    Trials trials(observed);
    std::mt19937_64 random(observed.options.seed());
    for (std::int64_t r = 0; r <= rounds && stop.signal() == 0; ++r) {
        // Fisher-Yates shuffle: std::shuffle's order depends on the standard library.
        for (std::size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random() % i]);
        std::vector<TrialTimes> made;
        for (const Trial trial : round) {
            observed.around.progress.activity(fmt::format("ablation: round {} of {}, {}", r, rounds,
                                                          kTrialNames[base::number_of(trial)]));
            made.push_back(trials.make(trial));
            // A stop signal after the last step of the round leaves the round complete.
            const bool complete = made.size() == round.size() && made.back().all_steps();
            if (stop.signal() != 0 && !complete) return all;
        }
        if (r > 0) all.insert(all.end(), made.begin(), made.end());  // round 0 warms up
    }
    return all;
}

std::vector<Part> waterfall(const std::vector<TrialTimes>& trials) {
    const bool silent = !of_kind(trials, Trial::nocomm).empty();
    const Trial computing = silent ? Trial::compute : Trial::synthetic;
    const double full = step_time(trials, Trial::full, &TrialTimes::longest);
    const double compute = step_time(trials, computing, &TrialTimes::typical);
    const double imbalance = step_time(trials, computing, &TrialTimes::longest) - compute;
    const double communication =
        silent ? full - step_time(trials, Trial::nocomm, &TrialTimes::longest) : 0.0;
    const double input = full - step_time(trials, Trial::synthetic, &TrialTimes::longest);
    std::vector<Part> parts{{"compute", compute},
                            {"imbalance", imbalance},
                            {"communication", communication},
                            {"input", input},
                            {"rest", full - compute - imbalance - communication - input}};
    const auto any = of_kind(trials, Trial::full).front();
    const double samples = static_cast<double>(any.samples) / static_cast<double>(any.steps);
    double time = 0, positive = 0;
    for (const auto& part : parts) positive += std::max(0.0, part.step_s);
    for (auto& part : parts) {
        const double before = time > 0 ? samples / time : samples / compute;
        time += part.step_s;
        part.percent = 100 * std::max(0.0, part.step_s) / positive;
        part.samples_per_s = samples / time;
        part.lost = before - part.samples_per_s;
    }
    return parts;
}

namespace {

// True if `a` took longer than `b`, by Student's t at 95 % with one difference per round.
bool is_clearly_longer(const std::vector<TrialTimes>& trials, const Part& a, const Part& b) {
    const auto find = [](const std::vector<Part>& parts, const std::string& name) {
        return std::ranges::find(parts, name, &Part::part)->step_s;
    };
    std::vector<double> longer;
    for (std::size_t round = 0; round < of_kind(trials, Trial::full).size(); ++round) {
        std::vector<TrialTimes> of_round;
        for (std::size_t kind = 0; kind < kTrialNames.size(); ++kind)
            if (const auto some = of_kind(trials, static_cast<Trial>(kind)); round < some.size())
                of_round.push_back(some[round]);
        const auto parts = waterfall(of_round);
        longer.push_back(find(parts, a.part) - find(parts, b.part));
    }
    return longer.size() >= 3 && stats::mean_interval(longer).low > 0;
}

}  // namespace

std::string what_limits(const std::vector<TrialTimes>& trials) {
    auto parts = waterfall(trials);
    const double rest = parts.back().percent;
    parts.pop_back();
    std::ranges::stable_sort(parts, std::greater(), &Part::percent);
    std::vector<std::string> shares;
    for (const auto& part : parts)
        shares.push_back(fmt::format("{} {:.1f} %", part.part, part.percent));
    shares.push_back(fmt::format("rest {:.1f} %", rest));
    const bool clear = is_clearly_longer(trials, parts[0], parts[1]);
    return fmt::format("{}: {}", clear ? parts.front().part + " limits" : "undecided",
                       base::join(shares, ", "));
}

void add_ablation(results::Run& run, const std::vector<TrialTimes>& trials) {
    results::Rows table("ablation");
    for (std::size_t k = 0; k < kTrialNames.size(); ++k) {
        const auto some = of_kind(trials, static_cast<Trial>(k));
        if (some.empty()) continue;  // a run that sends nothing has no nocomm and compute
        run.measurements.push_back(throughput(some, kTrialNames[k]));
        const auto& rates = run.measurements.back().samples;
        table.add({std::string(kTrialNames[k]), static_cast<std::int64_t>(some.size()),
                   some.front().steps, stats::mean_of_finite(rates), deviation_of(rates),
                   step_time(trials, static_cast<Trial>(k), &TrialTimes::longest)});
    }
    run.tables.push_back(std::move(table).table());
    const auto parts = waterfall(trials);
    results::Rows falls("waterfall");
    for (const auto& part : parts)
        falls.add({part.part, part.step_s, part.percent, part.samples_per_s, part.lost});
    run.tables.push_back(std::move(falls).table());
    Facts{run, "training"}("limit", what_limits(trials));
}

void add_trials(results::Run& run, const ObservedRun& observed,
                const std::vector<TrialTimes>& trials) {
    const int signal = observed.end.signal();
    const bool has_trials = run.valid && !trials.empty();
    if (has_trials) add_ablation(run, trials);
    mark_stopped(run, signal,
                 has_trials
                     ? "during the trials: the numbers cover only complete rounds"
                     : "during the trials, before a round was complete: there are no numbers");
    if (signal != 0 && !has_trials) run.valid = false;
}

}  // namespace ranklab::experiments
