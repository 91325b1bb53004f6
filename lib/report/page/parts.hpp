// Private to lib/report/page: the parts of the page.
#pragma once

#include <kainjow/mustache.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/figures/figure.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"

namespace ranklab::report::page {

using Data = kainjow::mustache::data;
using Object = kainjow::mustache::object;
using List = kainjow::mustache::list;

/// Fills the template of that name. {{name}} escapes texts of results files.
std::string filled(const char* name, const Data& data,
                   const std::function<std::string(const std::string&)>& escape = html_escape);

inline constexpr std::size_t kMostDetailed = 60;  ///< groups whose newest run is shown in full

/// A row per group of one command, the newest first.
Frame summary_frame(const model::Groups& groups, const std::string& command);
std::string summary_of(const model::Groups& groups);
/// Fills `not_drawn` with the reason if a picture is missing.
std::string figures_of(const figures::Section& section, std::string& not_drawn);
/// A row per rank of the newest run with several ranks.
std::string ranks_of(const figures::Source& source);
std::string runs_of(const figures::Source& source);
/// A row per column of the table of runs: the column's values, each with its number of runs.
Frame values_of(const Frame& runs, const Places& columns);
std::string definitions_of(const model::Groups& groups);

/// The page in UTF-8 HTML. `reference`: the folder of published numbers (results/reference/*.csv);
/// empty: none are shown. Without gnuplot the page has the numbers of figures and says why their
/// pictures are missing. Throws what ChosenRuns::visit throws. `title`: empty for the labels of the
/// runs (the name of the file if a run has none). `asked`: further questions and their answers,
/// which are shown first.
std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& reference = {},
                      const std::string& title = "",
                      const std::vector<std::pair<std::string, std::string>>& asked = {});

/// The demands of a computing centre on a scaling section; configs/centres.ini describes them.
struct Centre {
    std::string title = {}, says = {}, url = {};
    double threshold = stats::kNone;
    bool per_doubling = false;  ///< threshold of the speedup per doubling; false: of efficiency
};
/// An empty name returns a centre without demands. Throws OptionError if the file lacks the name or
/// has an unknown key.
Centre centre_of(const std::filesystem::path& path, const std::string& name);

/// Finds the largest scale up to which every point meets the centre's threshold; the verdict says
/// whether the whole interval at that scale meets it, too. Without a threshold: the last point.
/// `rows`: one curve in a table of figures::scaling_over_ranks, the base first.
Finding reach_of(const Frame& table, const std::vector<std::size_t>& rows, const Centre& centre);

/// A row per point of the scaling sections: its efficiency, and those of published curves of the
/// same kind at the same multiple of their base (cores, GPUs or nodes), either all on one node or
/// all on several. Leaves out curves without communication, contradictory curves, and curves that
/// are not known to span several nodes.
Frame placed_among(const std::vector<model::PublishedCurve>& published,
                   const std::vector<figures::Section>& scaling);

/// The scaling section of a proposal as "html", "markdown" or "latex". With planned_steps > 0 it
/// has node-hours. Throws OptionError if the runs have no scaling over ranks.
std::string proposal(const model::ChosenRuns& runs, const Centre& centre,
                     std::int64_t planned_steps, const std::string& format);

}  // namespace ranklab::report::page
