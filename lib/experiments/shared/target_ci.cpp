#include "experiments/shared/target_ci.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kMostTimesLeast = 20;
constexpr std::int64_t kAsManyAsCome = std::int64_t{1} << 40U;

results::Table looks_table(const measure::Convergence& convergence) {
    std::vector<std::int64_t> samples;
    std::vector<double> median, low, high, half_width, target, effective_n;
    std::vector<std::string> method;
    for (const auto& look : convergence.looks()) {
        samples.push_back(look.samples);
        median.push_back(look.median);
        low.push_back(look.low);
        high.push_back(look.high);
        half_width.push_back(100 * look.half_width);
        target.push_back(100 * convergence.target());
        effective_n.push_back(look.effective_n);
        method.push_back(look.method);
    }
    return {"convergence",
            {{"samples", samples},
             {"median_s", median},
             {"low_s", low},
             {"high_s", high},
             {"half_width_percent", half_width},
             {"target_percent", target},
             {"effective_n", effective_n},
             {"method", method}}};
}

}  // namespace

void describe_target(options::Schema& schema, const std::string& least) {
    schema.text(
        "target-ci", "PERCENT", std::nullopt,
        fmt::format(
            "such as 2%: go on until the 95 % interval's half-width is at most that part of the median; {} "
            "is then the least, 20 times that or --time-limit the most; exit code 7 where it is not "
            "reached",
            least));
}

void describe_order(options::Schema& schema) {
    schema.choice(
        "order", {"interleaved", "sequential"}, "interleaved",
        "several runs in one command: a repetition of each in turn, in an order drawn anew for each "
        "round (--seed), or one run after the other");
}

measure::Convergence convergence_of(const options::Options& options, std::int64_t least) {
    if (!options.has("target-ci")) return {};
    return {measure::parse_target(options.text("target-ci")), least};
}

std::int64_t most_samples(const options::Options& options, std::int64_t least) {
    if (!options.has("target-ci")) return least;
    if (options.has("time-limit")) return kAsManyAsCome;
    return least > kAsManyAsCome / kMostTimesLeast ? kAsManyAsCome : least * kMostTimesLeast;
}

void add_convergence(results::Run& run, const measure::Convergence& convergence, const std::string& unit,
                     std::int64_t least) {
    if (!convergence.wanted()) return;
    const std::string verdict = convergence.verdict(unit);
    run.tables.push_back(looks_table(convergence));
    run.context.push_back({"measuring", "converged", verdict});
    if (convergence.reached() || !run.valid || convergence.seen() < least) return;
    if (run.exit_code == 0) run.exit_code = static_cast<int>(base::ExitCode::invalid_measurement);
    run.warnings.insert(
        run.warnings.begin(),
        fmt::format(
            "not converged: {}; the numbers stand, but are less sure than --target-ci asks: give more "
            "time (--time-limit), or see docs/reducing_variance.md",
            verdict));
}

}  // namespace ranklab::experiments
