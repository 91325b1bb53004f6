// Prints the vocabulary as JSON: for the contract test, and for the page of the documents that is
// made of it.
#include <iostream>
#include <nlohmann/json.hpp>

#include "results/run.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/tables.hpp"

namespace {

using namespace ranklab;
using Json = nlohmann::ordered_json;

constexpr const char* kBetter[] = {"less", "more", "neither"};
constexpr const char* kTypes[] = {"number", "whole", "text"};
constexpr const char* kRoles[] = {"surroundings", "work", "noted", "outcome"};

Json measurements() {
    Json rows = Json::array();
    for (const auto& one : vocabulary::quantities())
        rows.push_back({{"name", one.name},
                        {"unit", one.unit},
                        {"kind", results::kind_name(one.kind)},
                        {"better", kBetter[static_cast<int>(one.better)]},
                        {"part_of", one.part_of},
                        {"definition", one.definition}});
    return rows;
}

Json tables() {
    Json rows = Json::array();
    for (const auto& table : vocabulary::tables()) {
        Json columns = Json::array();
        for (const auto& column : table.columns)
            columns.push_back(
                {{"name", column.name}, {"type", kTypes[static_cast<int>(column.type)]}});
        rows.push_back({{"name", table.name}, {"columns", columns}});
    }
    return rows;
}

Json facts() {
    Json rows = Json::array();
    for (const auto& fact : vocabulary::facts())
        rows.push_back({{"name", fact.name},
                        {"role", kRoles[static_cast<int>(fact.role)]},
                        {"follows_ranks", fact.follows_ranks}});
    return rows;
}

}  // namespace

int main() {
    std::cout
        << Json{{"measurements", measurements()}, {"tables", tables()}, {"facts", facts()}}.dump(1)
        << '\n';
}
