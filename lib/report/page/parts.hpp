// Private to this room: the parts of the page.
#pragma once

#include <kainjow/mustache.hpp>
#include <set>
#include <string>

#include "report/figures/figure.hpp"
#include "report/model/groups.hpp"

namespace ranklab::report::page {

using Data = kainjow::mustache::data;
using Object = kainjow::mustache::object;
using List = kainjow::mustache::list;

/// The template of that name; what a results file holds reaches it by {{name}} alone, which escapes it.
std::string filled(const char* name, const Data& data);

struct Input {
    figures::Source source;
    std::size_t invalid = 0;  ///< runs
    std::vector<std::pair<std::string, std::size_t>> warnings =
        {};                            ///< of runs: the sentence, how many have it
    std::set<std::string> shown = {};  ///< ids of runs that the page shows whole
};

/// Groups that the page shows whole, by their newest run.
std::vector<const model::Group*> detailed_groups(const model::Groups& groups);

/// The best rate of each workload; false where there is none.
Data headlines_of(const Input& input);
/// What a reader must know before the numbers; false where there is nothing.
Data warnings_of(const Input& input);
std::string summary_of(const Input& input);
/// Where a picture is missing, `not_drawn` says why.
std::string figures_of(const figures::Section& section, std::string& not_drawn);
/// The newest runs of several ranks, rank by rank.
std::string ranks_of(const Input& input);
std::string runs_of(const Input& input);
std::string environment_of(const Input& input);
std::string definitions_of(const Input& input);

}  // namespace ranklab::report::page
