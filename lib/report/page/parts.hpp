// Private to this room: the parts of the page.
#pragma once

#include <kainjow/mustache.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/figures/figure.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"

namespace ranklab::report::page {

using Data = kainjow::mustache::data;
using Object = kainjow::mustache::object;
using List = kainjow::mustache::list;

/// Fills the template of that name; contents of results files enter only by {{name}}, which escapes
/// them.
std::string filled(const char* name, const Data& data);

/// Groups that the page shows whole, by their newest run.
std::vector<const model::Group*> detailed_groups(const model::Groups& groups);

std::string summary_of(const model::Groups& groups);
/// Where a picture is missing, `not_drawn` says why.
std::string figures_of(const figures::Section& section, std::string& not_drawn);
/// The newest run of several ranks, rank by rank.
std::string ranks_of(const figures::Source& source);
std::string runs_of(const figures::Source& source);
/// A row a condition, with its values and of how many runs each is.
Frame values_of(const std::vector<model::Conditions>& of_runs);
std::string definitions_of(const model::Groups& groups);

/// The page in UTF-8 HTML. `reference`: the folder of published figures (results/reference/*.csv);
/// empty: none are shown. Figures are drawn by gnuplot; where it is missing, the page says so in
/// their places and still has their numbers. Throws what ChosenRuns::visit throws.
std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& reference = {});

/// The demands of a computing centre on a scaling section; configs/centres.ini describes them.
struct Centre {
    std::string title = {}, says = {}, url = {};
    double threshold = stats::kNone;
    bool per_doubling = false;  ///< of the speedup; otherwise of the efficiency over the base
};
/// An empty name is that of a centre without demands. OptionError where the file lacks the name or
/// is not as it describes.
Centre centre_of(const std::filesystem::path& path, const std::string& name);

/// The largest scale up to which no point is below the centre's threshold, and whether its interval
/// is above; without a threshold the last point. `rows`: a curve's in a table of
/// figures::scaling_over_ranks, the base first.
Finding reach_of(const Frame& table, const std::vector<std::size_t>& rows, const Centre& centre);

/// The points of these among those of published curves of the same kind at the same multiple of the
/// base's cores, GPUs or nodes, both on one node or both on several: a row a point. Left out are
/// curves without communication, contradictory ones, and those that are not known to leave a node.
Frame placed_among(const std::vector<model::PublishedCurve>& published,
                   const std::vector<figures::Section>& scaling);

/// A scaling section for a proposal, as "html", "markdown" or "latex". `planned_steps` 0: without
/// node-hours. OptionError where the runs have no scaling over ranks.
std::string proposal(const model::ChosenRuns& runs, const Centre& centre,
                     std::int64_t planned_steps, const std::string& format);

}  // namespace ranklab::report::page
