#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostRuns = 3;
constexpr std::size_t kMostNumbered = 32;  // more ranks are shown as a strip of colours, numbers in a table
constexpr std::size_t kMostRows = 512;
constexpr std::array kStrips{"step_time_s",     "data_time_s",         "copy_time_s",      "forward_time_s",
                             "backward_time_s", "sync_exposed_time_s", "optimizer_time_s", "job_time_s",
                             "write_time_s",    "open_time_s",         "close_time_s",     "wait_time_s"};

// A measurement with a column a rank: each rank's mean over the counted rows.
struct Strip {
    std::string name;
    std::vector<double> means;
    double mean = 0;
};

std::vector<Strip> strips_of(const Run& run) {
    std::vector<Strip> strips;
    for (const char* const name : kStrips) {
        const Measurement* m = run.find(name);
        if (m == nullptr || m->columns < 2 || m->rows() == 0) continue;
        Strip strip{name, std::vector<double>(m->columns, 0), 0};
        m->visit([&](std::span<const double> rows) {
            for (std::size_t i = 0; i < rows.size(); ++i)
                strip.means[i % m->columns] += rows[i] / static_cast<double>(m->rows());
        });
        for (const double mean : strip.means) strip.mean += mean / static_cast<double>(strip.means.size());
        strips.push_back(std::move(strip));
    }
    return strips;
}

// Blue below the mean of all ranks, orange above it, full at half as much or less, and at half as much again.
std::string shade(double value, double mean) {
    const double off = mean > 0 ? std::clamp((value / mean - 1) / 0.5, -1.0, 1.0) : 0;
    return fmt::format("<td class=\"{}\" style=\"--h:{:.2f}\"", off < 0 ? "lo" : "hi", std::abs(off));
}

std::string value_html(const Strip& strip, std::size_t rank, const Run& run) {
    return derived_html(strip.means[rank], fmt::format("mean over steps of samples/{}[:, {}], run {}",
                                                       strip.name, rank, run.id));
}

std::string host_of(const Run& run, std::size_t rank) {
    return rank < run.hosts.size() ? fmt::format("{} on {}", rank, run.hosts[rank].host)
                                   : fmt::format("{}", rank);
}

std::string numbered(const Run& run, const std::vector<Strip>& strips, bool coloured) {
    std::string head = "<th>rank</th>", rows;
    for (const auto& strip : strips) head += fmt::format("<th>{}</th>", definition_link(strip.name));
    const std::size_t ranks = strips.front().means.size();
    for (std::size_t rank = 0; rank < std::min(ranks, kMostRows); ++rank) {
        rows += fmt::format("<tr><th scope=\"row\">{}</th>", escape(host_of(run, rank), 60));
        for (const auto& strip : strips)
            rows += fmt::format("{}>{}</td>", coloured ? shade(strip.means[rank], strip.mean) : "<td",
                                rank < strip.means.size() ? value_html(strip, rank, run) : "");
        rows += "</tr>\n";
    }
    if (ranks > kMostRows) rows += fmt::format("<tr><td>… and {} more ranks</td></tr>\n", ranks - kMostRows);
    return fmt::format(
        "<div class=\"scroll\"><table "
        "class=\"heat\"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
        head, rows);
}

std::string coloured(const Run& run, const std::vector<Strip>& strips) {
    std::string rows;
    for (const auto& strip : strips) {
        rows += fmt::format("<tr><th scope=\"row\">{}</th>", definition_link(strip.name));
        for (std::size_t rank = 0; rank < strip.means.size(); ++rank)
            rows += fmt::format("{} title=\"rank {}: {:.4g} s\"></td>", shade(strip.means[rank], strip.mean),
                                escape(host_of(run, rank), 60), strip.means[rank]);
        rows += "</tr>\n";
    }
    return fmt::format(
        "<div class=\"scroll\"><table class=\"heat strip\"><tbody>{}</tbody></table></div>\n"
        "<details><summary>Numbers of this figure</summary>{}</details>\n",
        rows, numbered(run, strips, false));
}

std::string figure_of(const model::Group& group, const std::string& title, const PageInput& input) {
    const Run run = input.load(group.newest.id);
    const auto strips = strips_of(run);
    if (strips.empty()) return "";
    const bool few = strips.front().means.size() <= kMostNumbered;
    return fmt::format(
        "<figure class=\"wide\" id=\"fig-ranks-{0}\">\n<h4>{1} ranks: {4} <span class=\"unit\">run "
        "{2}</span></h4>\n{3}<figcaption>Mean over "
        "the "
        "counted rows of each rank, in seconds. Colour: against the mean of all ranks, <span class=\"key "
        "lo\">half</span> to <span class=\"key hi\">half as much again</span>.</figcaption>\n</figure>\n",
        anchor(run.id), strips.front().means.size(), escape(run.id),
        few ? numbered(run, strips, true) : coloured(run, strips), escape(title, 200));
}

}  // namespace

std::string ranks_html(const PageInput& input) {
    std::vector<const model::Group*> groups = recent_groups(input.campaign, "", 200);
    std::erase_if(groups, [](const model::Group* group) { return group->ranks < 2 || group->valid == 0; });
    // The widest first; of equal ones training, then the newest.
    std::stable_sort(groups.begin(), groups.end(), [](const model::Group* a, const model::Group* b) {
        const auto order = [](const model::Group* g) {
            return std::make_pair(g->ranks, g->newest.command == "train");
        };
        return order(a) != order(b) ? order(a) > order(b) : a->last_utc > b->last_utc;
    });
    std::string text;
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < std::min(groups.size(), kMostRuns); ++i)
        text += figure_of(*groups[i], titles[i], input);
    return text;
}

}  // namespace ranklab::report::page
