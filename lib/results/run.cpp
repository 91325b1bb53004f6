#include "results/run.hpp"

#include <fmt/format.h>

#include <array>
#include <random>
#include <span>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "vocabulary/facts.hpp"

namespace ranklab::results {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes{"passed", "failed", "not verified",
                                                    "does not apply"};

}  // namespace

std::string kind_name(Kind kind) {
    static constexpr std::array<const char*, 4> kNames{"cost", "rate", "ratio", "count"};
    return kNames[base::number_of(kind)];
}

std::vector<double> Measurement::largest_of(const std::vector<double>& rows) const {
    std::vector<double> largest;
    for (std::size_t end = columns; columns > 0 && end <= rows.size(); end += columns)
        largest.push_back(
            *std::ranges::max_element(std::span(rows).subspan(end - columns, columns)));
    return largest;
}

const Measurement* Run::find(std::string_view name) const {
    const auto found = std::ranges::find(measurements, name, &Measurement::name);
    return found == measurements.end() ? nullptr : &*found;
}

const Table* Run::find_table(std::string_view name) const {
    const auto found = std::ranges::find(tables, name, &Table::name);
    return found == tables.end() ? nullptr : &*found;
}

std::vector<StoredRow> rows_of(const Run& run, std::string_view table) {
    const Table* const found = run.find_table(table);
    return found == nullptr ? std::vector<StoredRow>() : rows_of(*found);
}

std::string Run::setting(std::string_view key) const {
    const auto found = std::ranges::find(config, key, &Setting::key);
    return found == config.end() ? "" : found->value;
}

std::string Run::fact(std::string_view section, std::string_view key) const {
    const auto found = std::ranges::find_if(
        context, [&](const Fact& one) { return one.section == section && one.key == key; });
    if (found != context.end()) return found->value;
    return vocabulary::fact_of_older_run(
        fmt::format("{}.{}", section, key),
        [this](std::string_view option) { return setting(option); });
}

bool Run::says(const vocabulary::FactName& name, vocabulary::FactWord word) const {
    return vocabulary::word_in(fact(name)) == word;
}

void Run::add_fact(const vocabulary::FactName& name, vocabulary::FactWord word,
                   std::string_view details) {
    context.push_back({std::string(name.section), std::string(name.key),
                       fmt::format("{}{}{}", text_of(word), details.empty() ? "" : " ", details)});
}

double Run::median(std::string_view name) const {
    const Measurement* measurement = find(name);
    return measurement == nullptr ? stats::kNone : measurement->summary.median;
}

std::string_view text_of(CheckOutcome outcome) {
    return kOutcomes.at(base::number_of(outcome));
}

std::vector<CheckOutcome> Run::check_outcomes() const {
    std::vector<CheckOutcome> outcomes;
    for (const auto& row : rows_of(*this, "verification")) {
        const auto found = std::ranges::find(kOutcomes, row.text("result"));
        outcomes.push_back(found == kOutcomes.end() ? CheckOutcome::not_verified
                                                    : CheckOutcome(found - kOutcomes.begin()));
    }
    return outcomes;
}

CheckOutcome Run::verified() const {
    const auto outcomes = check_outcomes();
    const auto has = [&](auto one) { return std::ranges::count(outcomes, one) > 0; };
    if (has(CheckOutcome::failed)) return CheckOutcome::failed;
    return has(CheckOutcome::passed) && !has(CheckOutcome::not_verified)
               ? CheckOutcome::passed
               : CheckOutcome::not_verified;
}

std::string Run::verified_text() const {
    const auto outcome = verified();
    return outcome == CheckOutcome::passed   ? "yes"
           : outcome == CheckOutcome::failed ? "NO"
                                             : "not verified";
}

void Run::mark_incomplete(const std::string& progress) {
    add_fact(vocabulary::fact::kComplete, vocabulary::FactWord::no);
    warnings.insert(warnings.begin(), "the run is NOT COMPLETE: " + progress);
}

std::string Run::cut_short() const {
    constexpr int kOfSignals = 128;
    if (exit_code > kOfSignals) return base::signal_name(exit_code - kOfSignals);
    if (exit_code == base::number_of(base::ExitCode::time_limit)) return "time limit";
    return says(vocabulary::fact::kComplete, vocabulary::FactWord::no) ? "not complete" : "";
}

std::string make_run_id(std::int64_t unix_seconds) {
    // libstdc++ takes these bits from the system or the processor, never from a fixed sequence.
    std::random_device random;
    return fmt::format("{}-{:08x}{:08x}", base::utc_compact(unix_seconds), random(), random());
}

}  // namespace ranklab::results
