#include "experiments/shared/rank_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/cast.hpp"
#include "experiments/shared/series_measurements.hpp"
#include "results/rows.hpp"
#include "results/vocabulary/tables.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;
using results::KeptSamples;
using results::Measurement;

// The columns of the ranks that took part: 0 .. count-1.
RankSamples columns_to(RankSamples all, std::size_t count) {
    if (count == all.ranks) return all;
    RankSamples some{count, {}};
    for (std::size_t row = 0; row < all.rows(); ++row)
        for (std::size_t rank = 0; rank < count; ++rank) some.values.push_back(all.at(row, rank));
    return some;
}

// What a rank's summary has in the table; its n is stored, too.
std::vector<double> numbers_of(const stats::Summary& s) {
    return {base::real(s.n), s.median, s.mean, s.min, s.max};
}

// Of the ranks that others waited for one may be named in the run's facts: it stays.
void keep_late_rank(results::Run& run) {
    const auto* waiting = run.find_table("waiting");
    const auto late = run.fact("communication", "late_rank");
    if (waiting == nullptr || late.empty()) return;
    const auto& ranks = *waiting->find<std::int64_t>("rank");
    const auto place = std::ranges::find_if(ranks, [&](auto rank) { return fmt::to_string(rank) == late; });
    if (place == ranks.end()) return;
    const auto row = static_cast<std::size_t>(place - ranks.begin());
    results::Table one{waiting->name, {}};
    for (const auto& column : waiting->columns)
        std::visit(
            [&](const auto& values) {
                one.columns.push_back({column.name, std::decay_t<decltype(values)>{values[row]}});
            },
            column.values);
    *std::ranges::find(run.tables, "waiting", &results::Table::name) = std::move(one);
}

void drop_rank_tables(results::Run& run) {
    keep_late_rank(run);
    std::erase_if(run.tables, [](const results::Table& table) {
        const auto* schema = vocabulary::find_table(table.name);
        const bool of_ranks = schema != nullptr && schema->row == "a rank";
        const auto* ranks = table.find<std::int64_t>("rank");
        return of_ranks && !(table.name == "waiting" && ranks != nullptr && ranks->size() == 1);
    });
}

}  // namespace

RankKeeper::RankKeeper(comm::Communicator& control, KeptSamples kept, int participants)
    : control_(control), kept_(kept) {
    count(participants);
}

void RankKeeper::count(int participants) {
    participants_ = participants > 0 ? participants : control_.world_size();
}

bool RankKeeper::counts() const {
    return control_.rank() < participants_;
}

std::vector<double> RankKeeper::largest(const std::vector<double>& mine) const {
    std::vector<double> all = mine;
    if (!counts()) std::ranges::fill(all, -HUGE_VAL);
    return measure::largest_of_ranks(control_, std::move(all));
}

std::vector<double> RankKeeper::sums(const std::vector<double>& mine) const {
    std::vector<double> all = mine;
    if (!counts()) std::ranges::fill(all, 0);
    return measure::sums_of_ranks(control_, std::move(all));
}

std::vector<double> RankKeeper::means(const std::vector<double>& mine, std::size_t first) const {
    const auto counted = std::span(mine).subspan(std::min(first, mine.size()));
    const auto own = RankSamples{1, {counted.begin(), counted.end()}}.mean_over_rows();
    const auto all = measure::gather_columns(control_, own);
    return columns_to(all, static_cast<std::size_t>(participants_)).values;
}

Measurement RankKeeper::by_rank(std::string_view name, const std::string& axis,
                                const std::vector<double>& mine, std::size_t warmup) {
    if (kept_ == KeptSamples::all)
        return experiments::by_rank(
            name, axis,
            columns_to(measure::gather_columns(control_, mine), static_cast<std::size_t>(participants_)),
            warmup);
    notes_.push_back({std::string(name), participants_, stats::summarise(std::span(mine).subspan(warmup))});
    return experiments::by_rank(name, axis, RankSamples{1, largest(mine)}, warmup);
}

// A rank's one value is its summary.
Measurement RankKeeper::of_run(std::string_view name, double mine) {
    if (kept_ == KeptSamples::summary)
        return experiments::by_rank(name, "run", RankSamples{1, largest({mine})});
    const auto all = measure::gather_columns(control_, {mine});
    return experiments::by_rank(name, "run", columns_to(all, static_cast<std::size_t>(participants_)));
}

std::vector<measure::RankSeries> RankKeeper::series(const measure::Spool& mine) const {
    return kept_ == KeptSamples::all ? measure::gather_spools(control_, mine)
                                     : measure::gather_largest(control_, mine);
}

Measurement RankKeeper::by_rank(std::string_view name, const std::string& axis,
                                const measure::RankSeries& all, const measure::Spool& mine,
                                std::size_t column, std::size_t warmup) {
    if (kept_ == KeptSamples::ranks)
        notes_.push_back(
            {std::string(name), participants_, summary_from(measure::columns_of(mine, column, 1), warmup)});
    return experiments::by_rank(name, axis, all, warmup);
}

void RankKeeper::finish(results::Run& run) {
    if (kept_ == KeptSamples::summary) drop_rank_tables(run);
    if (kept_ != KeptSamples::ranks || notes_.empty()) return;
    std::vector<double> mine;
    for (const auto& note : notes_) {
        const auto numbers = numbers_of(note.mine);
        mine.insert(mine.end(), numbers.begin(), numbers.end());
    }
    const auto all = measure::gather_columns(control_, mine);
    const std::size_t width = mine.size() / notes_.size();
    results::Rows table(results::kRankSummaries);
    for (std::size_t i = 0; i < notes_.size(); ++i)
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(notes_[i].participants); ++rank) {
            const auto at = [&](std::size_t number) { return all.at(i * width + number, rank); };
            table.add({notes_[i].name, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(at(0)),
                       at(1), at(2), at(3), at(4)});
        }
    run.tables.push_back(std::move(table).table());
}

}  // namespace ranklab::experiments
