#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.hpp"
#include "report/model/values.hpp"
#include "report/page/html.hpp"
#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

constexpr std::size_t kMostLadders = 4, kMostCollectives = 3;
constexpr std::size_t kMostCompleted = 200;  // groups; more than the page shows of any command

// A section holds rows of figures, or what the template of that name shows.
class Sections {
  public:
    void add(const char* id, const char* heading, const char* name, Data data) {
        if (!data.is_false() && !data.is_empty_list())
            all_.push_back(Object{{"id", id}, {"heading", heading}, {name, std::move(data)}});
    }
    void add_rows(const char* id, const char* heading, const std::vector<Data>& rows, Data published = false,
                  Data more = false) {
        List drawn;
        for (const auto& row : rows)
            if (!row.is_false()) drawn.push_back(row);
        if (!drawn.empty() || !published.is_false())
            all_.push_back(Object{{"id", id},
                                  {"heading", heading},
                                  {"rows", drawn},
                                  {"published", std::move(published)},
                                  {"more_figures", std::move(more)}});
    }
    const List& all() const { return all_; }

  private:
    List all_;
};

// With what to type where no run says what the network gives.
std::vector<figures::Figure> buckets_of(const PageInput& input, bool network) {
    auto figures = message_figures(input.source);
    for (auto& figure : figures)
        if (!network && !input.how_to.measure_network.empty())
            append(figure.caption, {fmt::format(" No run here says what the network alone gives them: {}.",
                                                input.how_to.measure_network)});
    return figures;
}

// The scaling of training on top, since that is what most come for.
List sections_of(const PageInput& input, figures::Drawer& drawer) {
    std::set<std::string> named;  // by captions
    const auto row = [&](const std::vector<figures::Figure>& figures, const char* heading = "",
                         const std::vector<figures::NumberTable>& tables = {}) {
        for (const auto& figure : figures)
            for (const auto& word : figure.caption)
                if (word.kind == figures::Word::Kind::definition) named.insert(word.text);
        return figure_row(heading, figures, drawer, tables);
    };
    // Speedup and efficiency with the numbers of all; below them what they were made of.
    std::vector<Data> scaling;
    const auto add_scaling = [&](const std::vector<figures::Figure>& figures, const char* heading) {
        if (figures.empty()) return;
        const auto rest = figures.begin() + std::min<std::ptrdiff_t>(2, std::ssize(figures));
        scaling.push_back(row({figures.begin(), rest}, heading, {joined_table(figures)}));
        scaling.push_back(row({rest, figures.end()}));
    };
    const figures::Source& source = input.source;
    Sections sections;
    add_scaling(scaling_figures(source, stats::Scaling::weak), "Weak: each rank keeps its batch");
    add_scaling(scaling_figures(source, stats::Scaling::strong), "Strong: ranks share one batch");
    add_scaling(thread_figures(source), "Threads: the same work on more compute threads of a rank");
    sections.add_rows("scaling", "Scaling of training", scaling);
    scaling.clear();
    add_scaling(io_scaling_figures(source), "");
    sections.add_rows("io-scaling", "Scaling of writing", scaling);
    sections.add("summary", "Summary", "summary", summary_data(input));
    sections.add_rows("phases", "Where a step's time goes", {row(phase_figures(source))});
    const auto network = network_figures(source);
    sections.add_rows("messages", "Message sizes", {row(buckets_of(input, !network.empty())), row(network)});
    std::vector<Data> collectives;
    for (const auto& [title, figures, tables] : collective_figures(source, kMostCollectives))
        collectives.push_back(row(figures, title.c_str(), tables));
    sections.add_rows("collectives", "Collectives", collectives);
    sections.add("ranks", "Rank by rank", "ranks_of_runs", ranks_data(input));
    const std::size_t stored = source.grouped.ladders().size();
    std::vector<Data> ladders;
    for (const auto& [title, figures] : figures_of_ladders(source, kMostLadders))
        ladders.push_back(row(figures, title.c_str()));
    sections.add_rows("ladder", "The file-writing ladder", ladders, false,
                      more_data(stored - std::min(kMostLadders, stored), input.how_to.choose));
    sections.add_rows("steps", "Step by step", {row(step_figures(source))});
    sections.add_rows("losses", "Losses", {row(loss_figures(source))});
    sections.add_rows("reference", "Published figures", {row(published_figures(source))},
                      published_data(input));
    sections.add("runs", "Runs", "run_details", runs_data(input));
    sections.add("environment", "Environment", "environment", environment_data(input));
    sections.add("definitions", "Definitions", "definitions", definitions_data(input, named));
    return sections.all();
}

Data lead_data(const PageInput& input) {
    const model::GroupedRuns& grouped = input.grouped();
    if (grouped.runs() == 0) return false;
    return Object{{"runs", fmt::to_string(grouped.runs())},
                  {"runs_word", grouped.runs() == 1 ? "run" : "runs"},
                  {"groups", fmt::to_string(grouped.groups().size())},
                  {"groups_word", grouped.groups().size() == 1 ? "group" : "groups"},
                  {"hosts", model::counted(grouped.hosts().size(), "host")},
                  {"several", grouped.first_utc() != grouped.last_utc()},
                  {"first", grouped.first_utc()},
                  {"last", grouped.last_utc()},
                  {"all_valid", grouped.invalid() == 0},
                  {"choice", if_any(figures::cut(input.choice, 300))}};
}

}  // namespace

std::string html_page(const model::ChosenRuns& runs, const HtmlOptions& options) {
    model::GroupedRuns grouped;
    runs.visit(results::Detail::measurements, [&](results::Run&& run) { grouped.add(std::move(run)); });
    grouped.complete([&](const std::string& id) { return runs.file().read(id, results::Detail::summaries); },
                     kMostCompleted);
    const model::References references = model::read_references(options.reference);
    for (const auto& problem : references.problems) base::log::warn(problem);
    const auto load = [&](const std::string& id) { return runs.file().read(id); };
    PageInput input{{grouped, load, references},
                    runs.file().path().filename().string(),
                    runs.text(),
                    options.most_groups,
                    runs.how_to(),
                    [&](const std::string& id) { return runs.file().read(id, results::Detail::summaries); }};
    for (const auto& [group, shown] : detailed_groups(grouped))
        input.shown_whole.insert(shown.begin(), shown.end());
    figures::Drawer drawer(escape);
    return filled("page.html", Object{{"file", figures::cut(input.file, 120)},
                                      {"lead", lead_data(input)},
                                      {"headlines", headlines_data(input)},
                                      {"warnings", warnings_data(input)},
                                      {"sections", sections_of(input, drawer)}});
}

}  // namespace ranklab::report::page
