// Private to this room: the parts of the page. Each returns the inside of its section; "" where the runs have
// nothing for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/model/campaign.hpp"
#include "report/model/reference.hpp"
#include "report/page/html_figure.hpp"
#include "results/run.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::page {

struct PageInput {
    const model::Campaign& campaign;
    /// A run with its samples.
    std::function<results::Run(const std::string& id)> load;
    std::string file;    ///< the results file's name
    std::string choice;  ///< of its runs, in words; "" for all
    model::References references;
    std::size_t most_groups = 60;
};

/// The most recent groups of that command ("" for any), at most `most`, in the order met.
std::vector<const model::Group*> recent_groups(const model::Campaign& campaign, const std::string& command,
                                               std::size_t most);

/// Those whose newest run details_html shows: what others link to.
std::vector<const model::Group*> detailed_groups(const model::Campaign& campaign);
/// A link to the group's newest run where the page shows it; `html` itself otherwise.
std::string run_link(const PageInput& input, const model::Group& group, const std::string& html);

std::string warnings_html(const PageInput& input);
std::string summary_html(const PageInput& input);
std::string details_html(const PageInput& input);
std::string ranks_html(const PageInput& input);
std::string environment_html(const PageInput& input);
std::string reference_html(const PageInput& input);
std::string definitions_html(const PageInput& input);

std::vector<Figure> scaling_figures(const PageInput& input, stats::Scaling scaling);
std::vector<Figure> phase_figures(const PageInput& input);
std::vector<Figure> message_figures(const PageInput& input);
std::vector<Figure> ladder_figures(const PageInput& input);
std::vector<Figure> io_scaling_figures(const PageInput& input);
std::vector<Figure> step_figures(const PageInput& input);
std::vector<Figure> reference_figures(const PageInput& input);
std::vector<Figure> loss_figures(const PageInput& input);

/// The page's <style>.
std::string page_style();

}  // namespace ranklab::report::page
