#include <nlohmann/json.hpp>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {
namespace {

using Json = nlohmann::ordered_json;

// NaN and infinities are written as null by the library itself.
Json row_json(const CompareRow& row) {
    const auto& [n_a, n_b, estimate, test] = row.difference;
    Json json{{"measurement", row.measurement},
              {"unit", row.unit},
              {"better", better_name(row.better)},
              {"n_a", n_a},
              {"n_b", n_b},
              {"median_a", row.median_a},
              {"median_b", row.median_b},
              {"ratio", estimate.ratio},
              {"ci95_low", estimate.ci.low},
              {"ci95_high", estimate.ci.high},
              {"p", test.p},
              {"p_holm", row.corrected_p},
              {"effect", test.effect},
              {"verdict", outcome_name(row.outcome)}};
    json["runs_needed"] = row.runs_needed == 0 ? Json(nullptr) : Json(row.runs_needed);
    return json;
}

Json group_json(const CompareGroup& group) {
    Json settings = Json::object();
    for (const auto& [key, value] : group.settings) settings[key] = value;
    Json differing = Json::array();
    for (const auto& one : group.differing)
        differing.push_back({{"key", one.key}, {"a", one.a}, {"b", one.b}, {"allowed", one.allowed}});
    Json rows = Json::array();
    for (const auto& row : group.rows) rows.push_back(row_json(row));
    return {{"command", group.command}, {"title", group.title},
            {"settings", settings},     {"runs_a", group.runs_a},
            {"runs_b", group.runs_b},   {"differing", differing},
            {"notes", group.notes},     {"rows", rows}};
}

Json side_json(const SideSummary& side) {
    Json left_out = Json::array();
    for (const auto& [reason, runs] : side.left_out) left_out.push_back({{"reason", reason}, {"runs", runs}});
    return {{"name", side.name},           {"runs", side.runs},     {"first_utc", side.first_utc},
            {"last_utc", side.last_utc},   {"labels", side.labels}, {"versions", side.versions},
            {"revisions", side.revisions}, {"left_out", left_out}};
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const Gate& gate) {
    Json groups = Json::array();
    for (const auto& group : comparison.groups) groups.push_back(group_json(group));
    const Json json{{"schema", 1},
                    {"smallest", comparison.smallest},
                    {"a", side_json(comparison.a)},
                    {"b", side_json(comparison.b)},
                    {"groups", groups},
                    {"only_a", comparison.only_a},
                    {"only_b", comparison.only_b},
                    {"notes", comparison_notes(comparison)},
                    {"verdict", comparison.overall()},
                    {"inconclusive", comparison.inconclusive()},
                    {"gate",
                     {{"fail_on_regression", gate.fail_on_regression},
                      {"fail_on_inconclusive", gate.fail_on_inconclusive}}},
                    {"exit_code", exit_code_of(comparison, gate)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace ranklab::report::compare
