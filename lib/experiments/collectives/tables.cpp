#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>

#include "base/numbers.hpp"
#include "results/run.hpp"
#include "stats/interval.hpp"

namespace ranklab::experiments {
namespace {

using comm::Operation;
using results::Rows;

constexpr double kMBpsPerGBps = 1e3;  // 1 B/us is 1 MB/s

// Returns an empty summary if the message was not timed.
stats::Summary summary_of(const results::Run& run, const MessageRow& row) {
    const auto* measurement = run.find(measurement_of(row));
    return measurement == nullptr ? stats::Summary() : measurement->summary;
}

std::string dtype_of(const Message& message) {
    return message.operation == Operation::barrier ? "none" : std::string(word_of(message.dtype));
}

template <std::integral Count>
std::int64_t whole(Count count) {
    return static_cast<std::int64_t>(count);
}

double deviation_percent(const std::vector<double>& samples, double mean) {
    if (samples.size() < 2) return stats::kNone;
    double squares = 0;
    for (const double sample : samples) squares += (sample - mean) * (sample - mean);
    return 100 * std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
}

std::string mark_of(const MessageRow& row) {
    constexpr double kMany = 0.05;
    const double late = row.late_begins / base::real(row.us.size());
    return late > kMany
               ? fmt::format("{:.0f} % of the calls began after the agreed time", 100 * late)
               : "";
}

results::Table messages_table(const results::Run& run, const Sweep& sweep) {
    Rows table("messages");
    for (const auto& row : sweep.rows) {
        if (row.us.empty()) continue;
        const auto s = summary_of(run, row);
        const auto& m = row.message;
        // A single call has no spread.
        const auto spread = [&](double value) { return row.us.size() == 1 ? stats::kNone : value; };
        table.add({std::string(comm::name_of(m.operation)),
                   row.level,
                   dtype_of(m),
                   std::string(m.redop()),
                   whole(row.root),
                   m.in_place ? "in-place" : "out-of-place",
                   whole(row.message.ranks),
                   whole(m.bytes()),
                   whole(m.part),
                   whole(s.n),
                   s.median,
                   s.mean,
                   spread(s.median),
                   spread(s.p95),
                   spread(s.p99),
                   s.ci95.low,
                   s.ci95.high,
                   spread(s.min),
                   spread(s.max),
                   deviation_percent(row.us, s.mean),
                   m.algbw_GBps(s.median),
                   m.busbw_GBps(s.median),
                   row.wrong.value_or(-1),
                   mark_of(row)});
    }
    return std::move(table).table();
}

// Returns why overlap cannot be judged, or "". It can be judged if communication and compute take
// about equally long alone, and run together take no longer than one after the other.
std::string overlap_mark(double overall, double compute, double pure) {
    constexpr double kOff = 1.25;
    if (compute > kOff * pure || pure > kOff * compute)
        return "compute and communication are not equally long";
    return overall > kOff * (compute + pure) ? "longer than compute and communication in sequence"
                                             : "";
}

results::Table nonblocking_table(const Sweep& sweep) {
    Rows table("nonblocking");
    const auto median = [](const std::vector<double>& us) { return stats::summarise(us).median; };
    for (const auto& row : sweep.rows) {
        if (!row.started) continue;
        const auto& [pure, compute, overall] = *row.started;
        std::vector<double> overlap;
        for (std::size_t call = 0; call < overall.size(); ++call)
            overlap.push_back(
                std::clamp(100 * (1 - (overall[call] - compute[call]) / median(pure)), 0.0, 100.0));
        const std::string mark = overlap_mark(median(overall), median(compute), median(pure));
        const auto percent =
            mark.empty() ? stats::estimate_median(overlap) : stats::MedianEstimate();
        table.add({std::string(comm::name_of(row.message.operation)), row.level,
                   dtype_of(row.message), std::string(row.message.redop()),
                   std::int64_t{row.message.ranks}, whole(row.message.bytes()),
                   sweep.options.settings.progress, whole(overall.size()), median(overall),
                   median(compute), median(pure), percent.value, percent.ci.low, percent.ci.high,
                   mark});
    }
    return std::move(table).table();
}

results::Table buckets_table(const results::Run& run, const Sweep& sweep,
                             const BucketTable& model) {
    Rows table("buckets");
    for (const auto& row : sweep.rows) {
        const auto s = summary_of(run, row);
        const auto& m = row.message;
        const auto& bucket = model.rows[row.bucket];
        table.add({std::int64_t{row.bucket}, bucket.parameters, bucket.elements, dtype_of(m),
                   bucket.bytes, s.median, s.ci95.low, s.ci95.high, m.algbw_GBps(s.median),
                   m.busbw_GBps(s.median), row.wrong.value_or(-1)});
    }
    return std::move(table).table();
}

std::string mark_of(const stats::LineFit& fit) {
    constexpr double kFar = 0.5;
    constexpr std::size_t kFewest = 5;
    if (fit.n < kFewest || !std::isfinite(fit.beta))
        return "fewer than 5 message sizes, so no line is fitted";
    if (!(fit.beta_ci.low > 0))
        return "larger messages take hardly longer: no bandwidth can be fitted";
    if (fit.worst > kFar) return "not linear in size: the algorithm or the cache changes";
    return "";
}

// `rows` differ only in size.
void add_fit(Rows& table, const results::Run& run, std::span<const MessageRow> rows) {
    std::vector<stats::LinePoint> points;
    for (const auto& row : rows)
        if (const double us = summary_of(run, row).median; us > 0)
            points.push_back({static_cast<double>(row.message.bytes()), us});
    if (points.empty()) return;
    const auto fit = stats::fit_line(points);
    const auto& row = rows.front();
    const auto& message = row.message;
    const bool is_known = fit.beta_ci.low > 0;
    const auto bandwidth = [&](double beta) {
        return is_known ? 1 / beta / kMBpsPerGBps : stats::kNone;
    };
    table.add({std::string(comm::name_of(message.operation)), row.level, dtype_of(message),
               std::string(message.redop()), message.in_place ? "in-place" : "out-of-place",
               whole(fit.n), fit.alpha, fit.alpha_ci.low, fit.alpha_ci.high, bandwidth(fit.beta),
               bandwidth(fit.beta_ci.high), bandwidth(fit.beta_ci.low),
               is_known ? fit.alpha / fit.beta : stats::kNone, 100 * fit.worst, mark_of(fit)});
}

// Rows of one form are adjacent.
results::Table fits_table(const results::Run& run, const Sweep& sweep) {
    Rows table("fits");
    std::span<const MessageRow> rest(sweep.rows);
    while (!rest.empty()) {
        const auto other = std::ranges::find_if(
            rest, [&](const MessageRow& row) { return !row.has_form_of(rest.front()); });
        const auto form = rest.first(other - rest.begin());
        if (form.front().message.operation != Operation::barrier && form.front().message.ranks > 1)
            add_fit(table, run, form);
        rest = rest.subspan(form.size());
    }
    return std::move(table).table();
}

results::Table pairs_table(const Sweep& sweep) {
    Rows table("pairs");
    for (const auto& [round, a, b, latency, bandwidth] : sweep.pairs)
        table.add(
            {whole(round), whole(a), whole(b), sweep.hosts[a], sweep.hosts[b], latency, bandwidth});
    return std::move(table).table();
}

results::Table clocks_table(const Sweep& sweep) {
    const auto& hosts = sweep.hosts;
    Rows table("clocks");
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto& clock = sweep.clocks[rank];
        table.add({whole(rank), hosts[rank], clock.offset_s * 1e6, clock.error_s * 1e6});
    }
    return std::move(table).table();
}

}  // namespace

void add_collectives_tables(results::Run& run, const Sweep& sweep) {
    const auto& options = sweep.options;
    if (options.model) {
        run.tables.push_back(buckets_table(run, sweep, *options.model));
    } else {
        run.tables.push_back(messages_table(run, sweep));
        run.tables.push_back(sweep.pairs.empty() ? fits_table(run, sweep) : pairs_table(sweep));
    }
    if (std::ranges::any_of(sweep.rows,
                            [](const MessageRow& row) { return row.started.has_value(); }))
        run.tables.push_back(nonblocking_table(sweep));
    if (sweep.clocks.size() > 1) run.tables.push_back(clocks_table(sweep));
}

}  // namespace ranklab::experiments
