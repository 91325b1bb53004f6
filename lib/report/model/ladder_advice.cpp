#include "report/model/ladder_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/model/selection.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

struct Candidate {
    const LadderRow* row;
    std::string label;

    double time() const { return row->time.median_s; }
    bool has_interval() const { return std::isfinite(row->time.s.low) && std::isfinite(row->time.s.high); }
    // "hdf5-serial (0.0786 s, 1747 MiB/s)"
    std::string text() const {
        const std::string rate =
            std::isfinite(row->write_MiBps) ? fmt::format(", {} MiB/s", number(row->write_MiBps)) : "";
        return fmt::format("{} ({} s{})", label, number(time()), rate);
    }
};

bool is_timed(const LadderRow& row) {
    return std::isfinite(row.time.median_s) && row.time.median_s > 0;
}

// The fastest first.
std::vector<Candidate> candidates_of(const std::vector<LadderRow>& rows, bool verified) {
    const auto labels = ladder_labels(rows);
    std::vector<Candidate> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (is_timed(rows[i]) && (rows[i].verified == "yes") == verified)
            all.push_back({&rows[i], labels[i]});
    std::ranges::stable_sort(all, {}, &Candidate::time);
    return all;
}

bool overlap(const Candidate& a, const Candidate& b) {
    return a.row->time.s.high >= b.row->time.s.low && b.row->time.s.high >= a.row->time.s.low;
}

// Those that may be as fast: by their intervals, or since they have none.
std::vector<std::string> not_parted_from(const std::vector<Candidate>& all) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].has_interval() || overlap(all[0], all[i]))
            names.push_back(all[i].label + (all[i].has_interval() ? "" : " (no interval)"));
    return names;
}

std::string choice(const std::vector<Candidate>& all) {
    const Candidate& best = all[0];
    const Candidate& next = all[1];
    const std::string beyond = number(next.time() / best.time());
    if (!best.has_interval())
        return fmt::format(
            "cannot tell: {} was the fastest, and the next, {}, took {} times as long, but without an "
            "interval, "
            "which takes 6 repetitions, that may be chance",
            best.text(), next.text(), beyond);
    if (const auto names = not_parted_from(all); !names.empty())
        return fmt::format(
            "cannot tell: {} was the fastest, but the 95 % interval of its job time does not part it from "
            "{}; "
            "measure more repetitions on a quiet machine, or take the simplest of these",
            best.text(), some_of(names, 3));
    return fmt::format(
        "{}, by its job time: the next, {}, takes {} times as long, and their 95 % intervals do not overlap",
        best.text(), next.text(), beyond);
}

// Each value once; "" of none.
template <class Value>
std::string values_of(const std::vector<LadderRow>& rows, Value value) {
    std::set<std::string> values;
    for (const auto& row : rows) values.insert(value(row));
    values.erase("");
    return some_of(values, 4);
}

std::string numbers_of(const std::vector<LadderRow>& rows, std::int64_t LadderRow::*count) {
    std::set<std::int64_t> values;
    for (const auto& row : rows)
        if (row.*count > 0) values.insert(row.*count);
    std::vector<std::string> texts;
    for (const auto value : values) texts.push_back(fmt::to_string(value));
    return some_of(texts, 6);
}

std::string holds_for(const std::vector<LadderRow>& rows, const LadderScope& scope) {
    const auto systems = values_of(rows, [](const LadderRow& row) { return row.place.file_system; });
    const auto fsync = values_of(rows, [](const LadderRow& row) { return row.place.fsync; });
    const char* disk = fsync == "yes"  ? ", with fsync"
                       : fsync == "no" ? ", without fsync: memory may still hold what was written"
                                       : ", whether with fsync is not known";
    return fmt::format("holds for: {} on the file system {}{}",
                       scope.records.empty() ? "its records" : scope.records,
                       systems.empty() ? "unknown" : systems, disk);
}

std::string not_tried(const std::vector<LadderRow>& rows, const LadderScope& scope) {
    const auto workers = numbers_of(rows, &LadderRow::workers);
    const std::string strategies = !scope.strategies_left ? "strategies that are not in the table; "
                                   : scope.strategies_left->empty()
                                       ? ""
                                       : "strategies " + *scope.strategies_left + "; ";
    return fmt::format("not tried: {}other numbers of ranks than {}{}; records of other sizes and counts",
                       strategies, numbers_of(rows, &LadderRow::ranks),
                       workers.empty() ? "" : "; other workers than " + workers);
}

}  // namespace

LadderScope scope_of(const results::Run& run) {
    LadderScope scope;
    if (!run.setting("files").empty() && !run.setting("size").empty()) scope.records = records_text(run);
    for (const auto& fact : run.context)
        if (fact.section == "ladder" && fact.key == "strategies_left") scope.strategies_left = fact.value;
    return scope;
}

std::vector<std::string> ladder_advice(const std::vector<LadderRow>& rows, const LadderScope& scope) {
    if (rows.empty()) return {};
    const auto verified = candidates_of(rows, true);
    const auto others = candidates_of(rows, false);
    std::vector<std::string> sentences;
    if (verified.size() < 2)
        sentences.emplace_back(verified.empty()
                                   ? "best way to write here: cannot tell, since no row is verified"
                                   : "best way to write here: cannot tell, since one row alone is "
                                     "verified");
    else
        sentences.push_back("best way to write here: " + choice(verified));
    if (!others.empty() && !verified.empty() && others[0].time() < verified[0].time())
        sentences.push_back(fmt::format("left out: {} was faster, but is not verified", others[0].text()));
    sentences.push_back(holds_for(rows, scope));
    sentences.push_back(not_tried(rows, scope));
    return sentences;
}

}  // namespace ranklab::report::model
