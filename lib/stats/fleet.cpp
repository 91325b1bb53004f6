#include "stats/fleet.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/difference.hpp"
#include "stats/distributions.hpp"
#include "stats/repeats.hpp"

namespace ranklab::stats {
namespace {

constexpr double kMad = 1.4826;            // sd of a normal distribution / its MAD
constexpr double kMedianError = 1.2533;    // sd of a median / sd of a mean
constexpr double kMadInformation = 0.37;   // the MAD's efficiency on normal samples
constexpr int kFewestRounds = 10;          // with fewer, a row's own spread is hardly known
constexpr std::size_t kFewestBetween = 8;  // rows; with fewer, their MAD is hardly known

RowCosts known(RowCosts costs) {
    std::erase_if(costs, [](double cost) { return std::isnan(cost); });
    return costs;
}

// The standard error of a row's effect: errors of its median and of the reference, combined.
double error_of(double spread, double rounds, double rows) {
    const double reference = rows == 2 ? 1 : kMedianError * kMedianError / rows;
    return spread * kMedianError / std::sqrt(rounds) * std::sqrt(1 + reference);
}

// Returns the logarithms of the costs minus each round's drift: the median over rows of a cost
// minus its row's median. A row with few rounds uses the median of all rows' medians instead.
std::vector<RowCosts> without_drift(std::span<const RowCosts> costs) {
    constexpr std::size_t kFew = 3;
    std::vector<RowCosts> logs(costs.begin(), costs.end());
    std::vector<double> middles;
    for (auto& row : logs) {
        for (double& value : row) value = std::log(value);
        middles.push_back(median_of_known(row));
    }
    const double middle = median_of_known(middles);
    for (std::size_t row = 0; row < logs.size(); ++row)
        if (known(logs[row]).size() < kFew) middles[row] = middle;
    for (std::size_t round = 0; round < logs.front().size(); ++round) {
        std::vector<double> rest;
        for (std::size_t row = 0; row < logs.size(); ++row)
            rest.push_back(logs[row][round] - middles[row]);
        const double drift = median_of_known(rest);
        for (auto& row : logs) row[round] -= drift;
    }
    return logs;
}

struct Spread {
    double error = kNone, freedom = 0;
};

// Estimates the spread by the MAD. `lost`: degrees of freedom that medians have used up.
Spread spread_of(std::vector<double> values, double lost) {
    const double all = base::real(values.size()), freedom = all - lost;
    const double middle = median_of_known(values);
    for (double& value : values) value = std::abs(value - middle);
    return {kMad * median_of_known(std::move(values)) * std::sqrt(all / freedom),
            std::max(1.0, kMadInformation * freedom)};
}

struct Spreads {
    Spread within, between;  // of one measurement; of rows' medians, if known
};

Spreads spreads_of(const std::vector<RowCosts>& rows) {
    std::vector<double> residuals, middles;
    double several = 0;  // rows with two values or more
    for (const auto& row : rows) {
        const auto values = known(row);
        if (values.empty()) continue;
        middles.push_back(median_of_known(values));
        if (values.size() < 2) continue;
        ++several;
        for (const double value : values) residuals.push_back(value - middles.back());
    }
    Spreads spreads;
    const double all = base::real(residuals.size());
    if (several > 1) spreads.within = spread_of(std::move(residuals), several + all / several - 1);
    if (middles.size() >= kFewestBetween) spreads.between = spread_of(std::move(middles), 1);
    return spreads;
}

// The uncorrected p of a row; NaN if it cannot be tested.
double p_of(double effect, std::size_t rounds, std::size_t rows, const Spreads& spreads) {
    Spread used = spreads.within;
    used.error = error_of(used.error, base::real(rounds), base::real(rows));
    // The spread between rows counts if it is larger by two of its own standard errors.
    const double clearly = 1 + 2 / std::sqrt(2 * spreads.between.freedom);
    if (spreads.between.error > 0 && !(clearly * used.error > spreads.between.error))
        used = spreads.between;
    return used.error > 0 ? 1 - student_cdf(effect / used.error, used.freedom) : kNone;
}

}  // namespace

double median_of_known(RowCosts costs) {
    return quantile(known(std::move(costs)), 0.5);
}

Fleet fleet_of(std::span<const RowCosts> costs, const FleetTest& test) {
    const std::size_t rows = costs.size();
    Fleet fleet{.rows = std::vector<RowEffect>(rows)};
    if (rows < 2) return fleet;
    const auto logs = without_drift(costs);
    auto normal = logs;
    constexpr int kPasses = 3;  // each leaves out the rows that the one before found
    for (int pass = 0; pass < kPasses; ++pass) {
        const auto spreads = spreads_of(normal);
        fleet.spread = spreads.within.error;
        std::vector<double> middles, p(rows, kNone);
        for (const auto& row : normal) middles.push_back(median_of_known(row));
        const double reference = rows == 2 ? std::ranges::min(middles) : median_of_known(middles);
        const double least = std::log1p(test.min_effect);
        for (std::size_t row = 0; row < rows; ++row) {
            const auto values = known(logs[row]);
            if (values.empty()) continue;
            const double effect = median_of_known(values) - reference;
            const auto is_slow = [&](double value) { return value - reference >= least; };
            fleet.rows[row] = {std::expm1(effect),
                               static_cast<std::size_t>(std::ranges::count_if(values, is_slow)),
                               values.size()};
            p[row] = p_of(effect, values.size(), rows, spreads);
        }
        if (!test.of_each_row) p = holm(p);
        normal.clear();
        for (std::size_t row = 0; row < rows; ++row) {
            auto& one = fleet.rows[row];
            one.slow = p[row] < test.alpha && one.effect >= test.min_effect;
            if (!one.slow || rows <= 3) normal.push_back(logs[row]);
        }
    }
    return fleet;
}

std::size_t rounds_to_find(double effect, std::size_t rows, double spread, const FleetTest& test,
                           std::size_t most) {
    constexpr double kPower = 0.99;  // in each of two measurements
    const double n = base::real(std::max<std::size_t>(2, rows));
    // If an eighth of fewer than 64 rows is slow, the other rows seem to differ more.
    if (rows >= kFewestBetween && rows < 64) spread *= 1.2;
    std::size_t rounds = std::max(kFewestRounds, 2 * static_cast<int>(std::bit_width(rows - 1)));
    for (; rounds < most; ++rounds) {
        const double error = error_of(spread, base::real(rounds), n);
        const double freedom = std::max(1.0, kMadInformation * (n - 1) * base::real(rounds - 1));
        const double needed = std::max(student_quantile(1 - test.alpha / n, freedom) * error,
                                       std::log1p(test.min_effect));
        if (normal_cdf((std::log1p(effect) - needed) / error) >= kPower) break;
    }
    return std::min(rounds, most);
}

double slower_than_before(double now, std::span<const double> before, const FleetTest& test) {
    constexpr std::size_t kFewest = 3;
    if (before.size() < kFewest || !(now > 0)) return kNone;
    const double n = base::real(before.size()), more = std::log(now) - log_mean(before);
    const double error = std::sqrt(log_squares(before) / (n - 1) * (1 + 1 / n));
    const double effect = now / quantile(before, 0.5) - 1;
    const bool beyond = more > student_quantile(1 - test.alpha, n - 1) * error;
    return beyond && effect >= test.min_effect ? effect : kNone;
}

}  // namespace ranklab::stats
