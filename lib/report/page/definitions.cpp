#include <map>

#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;

Data item(const std::string& name, const std::string& unit, const std::string& text) {
    return Object{{"anchor", figures::plain_name(name)},
                  {"name", cut(name, 80)},
                  {"unit", cut(unit, 20)},
                  {"text", cut(text, 600)}};
}

// Always there, since captions name them.
constexpr const char* kAlways[] = {"step_time_s",         "throughput_samples_per_s",
                                   "transfer_s",          "job_time_s",
                                   "train_loss",          "validation_loss",
                                   "validation_accuracy", "sync_exposed_time_s",
                                   "peak_rss_bytes",      "write_MiBps",
                                   "read_MiBps",          "files_per_s"};

}  // namespace

Data definitions_data(const PageInput& input) {
    std::map<std::string, std::string> measured;  // name -> unit
    for (const auto& group : input.grouped().groups())
        for (const auto& m : group.newest.measurements) measured[m.name] = m.unit;
    for (const char* const name : kAlways) measured.try_emplace(name, "");
    List items;
    for (const auto& known : vocabulary::quantities()) {
        const std::string name(known.name);
        if (measured.erase(name) > 0)
            items.push_back(item(name, std::string(known.unit), std::string(known.definition)));
    }
    for (const auto& [name, unit] : measured)
        items.push_back(
            item(name, unit, "Not described in this version of ranklab; the file's own unit is given."));
    return Object{{"items", items}};
}

}  // namespace ranklab::report::page
