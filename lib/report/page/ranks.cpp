#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostRuns = 3;
constexpr std::size_t kMostNumbered = 32;  // more ranks are shown as a strip of colours, numbers in a table
constexpr std::size_t kMostRows = 128;     // of the table; of more ranks it has the slowest
constexpr std::size_t kSlowest = 16;
constexpr std::size_t kMostCells = 256;  // of a strip; of more ranks a cell is several in a row

constexpr double kFull = 0.1;  // of the whole time: so much more or less than the others has the full colour

// A measurement with a column a rank: each rank's mean over the counted rows.
struct Strip {
    std::string name;
    std::vector<double> means;
    double mean = 0;
    double whole = 0;         // the mean of the time that it is a part of
    bool summarised = false;  // the means are stored, and the samples are not
};

// The means of a run that stored each rank's summary in place of its samples; empty where it has none.
std::vector<double> stored_means(const Run& run, std::string_view name) {
    const results::Table* table = run.find_table("rank_summaries");
    if (table == nullptr) return {};
    const auto* names = table->find<std::string>("measurement");
    const auto* ranks = table->find<std::int64_t>("rank");
    const auto* means = table->find<double>("mean");
    if (names == nullptr || ranks == nullptr || means == nullptr) return {};
    std::vector<double> by_rank;
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        if ((*names)[row] != name || !std::cmp_equal((*ranks)[row], by_rank.size())) continue;
        by_rank.push_back((*means)[row]);
    }
    return by_rank;
}

std::vector<double> means_of(const Measurement& m) {
    std::vector<double> means(m.columns, 0);
    for (std::size_t i = 0; i < m.samples.size(); ++i)
        means[i % m.columns] += m.samples[i] / static_cast<double>(m.rows());
    return means;
}

void add_strip(std::vector<Strip>& strips, const Run& run, std::string_view name, double whole) {
    const Measurement* m = run.find(name);
    if (m == nullptr || m->rows() == 0) return;
    const bool summarised = m->columns < 2;
    Strip strip{m->name, summarised ? stored_means(run, name) : means_of(*m), 0, whole, summarised};
    if (strip.means.size() < 2) return;
    for (const double mean : strip.means) strip.mean += mean / static_cast<double>(strip.means.size());
    if (strip.whole == 0) strip.whole = strip.mean;
    strips.push_back(std::move(strip));
}

// Of the time that the run is about, and its phases.
std::vector<Strip> strips_of(const Run& run) {
    std::vector<Strip> strips;
    for (const auto* whole : vocabulary::wholes()) {
        const std::size_t at = strips.size();
        add_strip(strips, run, whole->name, 0);
        if (strips.size() == at) continue;
        const double mean = strips.back().mean;
        for (const auto* part : vocabulary::parts_of(*whole)) add_strip(strips, run, part->name, mean);
    }
    return strips;
}

// Blue below the mean of all ranks, orange above it, by the share of the whole time: twice as long in a phase
// that takes no time is no finding.
Object shade(double value, const Strip& strip) {
    const double off =
        strip.whole > 0 ? std::clamp((value - strip.mean) / strip.whole / kFull, -1.0, 1.0) : 0;
    return {{"side", off < 0 ? "lo" : "hi"}, {"how_far", fmt::format("{:.2f}", std::abs(off))}};
}

std::string host_of(const Run& run, std::size_t rank) {
    return rank < run.hosts.size() ? fmt::format("{} on {}", rank, run.hosts[rank].host)
                                   : fmt::format("{}", rank);
}

Data shaded(figures::Words words, double off, bool coloured) {
    return Object{{"coloured", coloured},
                  {"side", "hi"},
                  {"how_far", fmt::format("{:.2f}", off > 0 ? std::min(off, 1.0) : 0.0)},
                  {"words", words_data(words)}};
}

// How often it came last, coloured from its fair share on, and for how long it waited for others.
void add_waiting(List& cells, const Run& run, std::size_t rank, double whole, bool coloured) {
    const results::Table* table = run.find_table("waiting");
    if (table == nullptr) return;
    figures::Words last = figures::cell_of(run, *table, "came_last_share", rank);
    append(last, {" %"});
    for (auto& word : last)
        for (auto& number : word.numbers) number.divided_by = 0.01;
    const double fair = 1 / static_cast<double>(model::row_count(*table));
    const double share = model::number_at(*table, "came_last_share", rank);
    cells.push_back(shaded(last, (share - fair) / (1 - fair), coloured));
    const double waited = model::number_at(*table, "waited_for_others_s", rank);
    cells.push_back(
        shaded(figures::cell_of(run, *table, "waited_for_others_s", rank), waited / whole / kFull, coloured));
}

Data number_cell(const Strip& strip, std::size_t rank, const Run& run, bool coloured) {
    if (rank >= strip.means.size()) return Object{{"coloured", false}, {"words", List{}}};
    const auto number = figures::derived(
        strip.means[rank], strip.summarised ? fmt::format("tables/{}: mean of {} of rank {}, run {}",
                                                          "rank_summaries", strip.name, rank, run.id)
                                            : fmt::format("mean over steps of samples/{}[:, {}], run {}",
                                                          strip.name, rank, run.id));
    Object cell = shade(strip.means[rank], strip);
    cell.insert({{"coloured", coloured}, {"words", words_data({number})}});
    return cell;
}

// All in their order, or the slowest first.
std::vector<std::size_t> shown_ranks(const Strip& whole) {
    std::vector<std::size_t> ranks(whole.means.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    if (ranks.size() <= kMostRows) return ranks;
    std::ranges::stable_sort(ranks, std::greater(), [&](std::size_t rank) { return whole.means[rank]; });
    ranks.resize(kSlowest);
    return ranks;
}

List by_rank(const Run& run, const std::vector<Strip>& strips, bool coloured) {
    List rows;
    for (const std::size_t rank : shown_ranks(strips.front())) {
        List cells;
        add_waiting(cells, run, rank, strips.front().whole, coloured);
        for (const auto& strip : strips) cells.push_back(number_cell(strip, rank, run, coloured));
        rows.push_back(Object{{"rank", figures::cut(host_of(run, rank), 60)}, {"cells", cells}});
    }
    return rows;
}

List colours_of(const Strip& strip, const Run& run) {
    List cells;
    const std::size_t at_once = (strip.means.size() + kMostCells - 1) / kMostCells;
    for (std::size_t first = 0; first < strip.means.size(); first += at_once) {
        const std::size_t last = std::min(first + at_once, strip.means.size()) - 1;
        // Of several the one that is farthest off: none hides among the others.
        std::size_t shown = first;
        for (std::size_t rank = first; rank <= last; ++rank)
            if (std::abs(strip.means[rank] - strip.mean) > std::abs(strip.means[shown] - strip.mean))
                shown = rank;
        Object cell = shade(strip.means[shown], strip);
        const auto of = first == last ? "" : fmt::format(", the farthest off of ranks {}-{}", first, last);
        cell.insert({{"rank", figures::cut(host_of(run, shown), 60) + of},
                     {"seconds", fmt::format("{:.4g}", strip.means[shown])}});
        cells.push_back(cell);
    }
    return cells;
}

Data figure_of(const model::Group& group, const std::string& title, const PageInput& input) {
    const Run run = input.source.load(group.newest.id);
    const auto strips = strips_of(run);
    if (strips.empty()) return false;
    const std::size_t ranks = strips.front().means.size();
    const std::size_t shown = ranks <= kMostRows ? ranks : kSlowest;
    const bool few = ranks <= kMostNumbered;
    List measurements;
    for (const auto& strip : strips)
        measurements.push_back(Object{{"anchor", figures::plain_name(strip.name)},
                                      {"name", strip.name},
                                      {"cells", few ? List{} : colours_of(strip, run)}});
    return Object{{"anchor", figures::plain_name(run.id)},
                  {"ranks", fmt::to_string(ranks)},
                  {"title", figures::cut(title, 200)},
                  {"id", run.id},
                  {"strip", !few},
                  {"measurements", measurements},
                  {"waiting", run.find_table("waiting") != nullptr},
                  {"looked_at", if_any(run.fact("communication", "steps_looked_at"))},
                  {"by_rank", by_rank(run, strips, few)},
                  {"more", if_any(shown < ranks ? fmt::to_string(ranks - shown) : "")}};
}

}  // namespace

Data ranks_data(const PageInput& input) {
    std::vector<const model::Group*> groups = model::recent_groups(input.grouped(), "", 200);
    std::erase_if(groups, [](const model::Group* group) {
        return group->ranks < 2 || !group->valid() || model::is_comm(group->newest);
    });
    // The widest first; of equal ones training, then the newest.
    std::ranges::stable_sort(groups, [](const model::Group* a, const model::Group* b) {
        const auto order = [](const model::Group* g) {
            return std::make_pair(g->ranks, g->newest.command == "train");
        };
        return order(a) != order(b) ? order(a) > order(b) : a->last_utc > b->last_utc;
    });
    List figures;
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < std::min(groups.size(), kMostRuns); ++i)
        if (Data figure = figure_of(*groups[i], titles[i], input); !figure.is_false())
            figures.push_back(std::move(figure));
    return figures;
}

}  // namespace ranklab::report::page
