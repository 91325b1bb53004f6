// Private to this room: the parts of the page, each as what its template says. Where the runs have nothing
// for a part it is false.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "report/figures/drawer.hpp"
#include "report/figures/figure.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/page/render.hpp"

namespace ranklab::report::page {

struct PageInput {
    figures::Source source;
    std::string file;    ///< the results file's name
    std::string choice;  ///< of its runs, in words; "" for all
    std::size_t most_groups = 60;
    model::HowTo how_to = {};
    std::function<results::Run(const std::string& id)> summaries = {};  ///< a run without its samples
    std::set<std::string> shown_whole = {};                             ///< ids of detailed_groups

    const model::GroupedRuns& grouped() const { return source.grouped; }
};

/// A measurement's name with the anchor of its definition, and its unit.
Object named(std::string_view measurement, std::string_view unit);
/// How many more there are, and what to type for them; false where there are none.
Data more_data(std::size_t more, const std::string& how);
/// Figures side by side where the page is wide, and tables below them; false where no chart has a number.
Data figure_row(const std::string& heading, const std::vector<figures::Figure>& figures,
                figures::Drawer& drawer, const std::vector<figures::NumberTable>& tables = {});

/// A group, and those of its runs that the page shows whole, the newest first: what others link to.
struct DetailedGroup {
    const model::Group* group = nullptr;
    std::vector<std::string> runs;
};
std::vector<DetailedGroup> detailed_groups(const model::GroupedRuns& grouped);
/// The run's anchor where the page shows it whole; otherwise false.
Data run_anchor(const PageInput& input, const std::string& id);
/// For run_link.html.
Object run_link(const PageInput& input, const std::string& id, const std::string& title);

/// Whether its newest run was verified.
figures::Word verdict_of(const model::Group& group);

/// The best of each workload.
Data headlines_data(const PageInput& input);
Data warnings_data(const PageInput& input);
Data summary_data(const PageInput& input);
Data ranks_data(const PageInput& input);
Data published_data(const PageInput& input);
Data runs_data(const PageInput& input);
Data environment_data(const PageInput& input);
/// Of what was measured, and of what else captions name.
Data definitions_data(const PageInput& input, const std::set<std::string>& named);

}  // namespace ranklab::report::page
