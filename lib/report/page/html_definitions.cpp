#include <fmt/format.h>

#include <map>

#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

std::string item(const std::string& name, const std::string& unit, const std::string& text) {
    return fmt::format("<dt id=\"def-{}\"><code>{}</code> <span class=\"unit\">[{}]</span></dt><dd>{}</dd>\n",
                       anchor(name), escape(name, 80), escape(unit, 20), escape(text, 600));
}

// Always there, since captions name them.
constexpr const char* kAlways[] = {"step_time_s",         "throughput_samples_per_s",
                                   "transfer_s",          "job_time_s",
                                   "train_loss",          "validation_loss",
                                   "validation_accuracy", "sync_exposed_time_s",
                                   "peak_rss_bytes",      "write_MiBps",
                                   "read_MiBps",          "files_per_s"};

}  // namespace

std::string definitions_html(const PageInput& input) {
    std::map<std::string, std::string> measured;  // name -> unit
    for (const auto& group : input.campaign.groups())
        for (const auto& m : group.newest.measurements) measured[m.name] = m.unit;
    for (const char* const name : kAlways) measured.try_emplace(name, "");
    std::string items =
        item("median", "",
             "Half of the samples are less. Over the steps or repetitions of a run (after the fold over "
             "ranks), or over the medians of runs where a group has six valid ones.") +
        item("interval", "",
             "95 % interval of the median by order statistics x(l), x(n+1-l), l the largest with "
             "P(Bin(n, 1/2) < l) <= 0.025; none below n = 6. Those of ratios and efficiencies are by "
             "bootstrap.") +
        item("efficiency", "1",
             "Parallel efficiency: strong T(p_ref) / (p / p_ref T(p)), weak T(p_ref) / T(p), T the median "
             "step_time_s.");
    for (const auto& known : vocabulary::quantities()) {
        const std::string name(known.name);
        if (measured.erase(name) > 0)
            items += item(name, std::string(known.unit), std::string(known.definition));
    }
    for (const auto& [name, unit] : measured)
        items += item(name, unit, "Not described in this version of ranklab; the file's own unit is given.");
    return "<p>Seconds are seconds and bytes are bytes: nothing is scaled. The clock is each rank's steady "
           "clock.</p>\n<dl>\n" +
           items + "</dl>\n";
}

}  // namespace ranklab::report::page
