#include <fmt/format.h>

#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;

List ours_data(const std::vector<const model::Group*>& groups, const std::string& quantity,
               const PageInput& input) {
    List ours;
    for (const model::Group* group : groups)
        ours.push_back(Object{{"words", words_data(figures::estimate_of(*group, quantity))},
                              {"link", run_anchor(input, group->newest.id)},
                              {"title", group->newest.id},
                              {"last", group == groups.back()}});
    return ours;
}

Object row_data(const model::Reference& row) {
    return {{"experiment", cut(row.experiment, 120)},
            {"anchor", figures::plain_name(row.quantity)},
            {"quantity", cut(row.quantity, 80)},
            {"unit", cut(row.unit, 20)},
            {"words", words_data({figures::published_number(row)})},
            {"conditions", cut(row.conditions, 300)},
            {"source", cut(row.source + (row.note.empty() ? "" : "; " + row.note), 400)},
            {"note", cut(row.note + (row.note.empty() ? "" : ". ") + row.document, 500)}};
}

List documents_of(const model::References& references) {
    List documents;
    std::string last;
    for (const auto& row : references.rows) {
        if (row.document != last) documents.push_back(cut(row.document, 300));
        last = row.document;
    }
    return documents;
}

}  // namespace

Data published_data(const PageInput& input) {
    const model::References& references = input.source.references;
    if (references.rows.empty() && references.problems.empty()) return false;
    List problems, pairs, all;
    for (const auto& problem : references.problems) problems.push_back(cut(problem, 500));
    for (const auto& row : references.rows) {
        all.push_back(row_data(row));
        const auto ours = figures::groups_like(row, input.grouped());
        if (ours.empty()) continue;
        pairs.push_back(row_data(row));
        pairs.back().set("ours", ours_data(ours, row.quantity, input));
    }
    return Object{{"problems", problems},
                  {"has_rows", !references.rows.empty()},
                  {"has_pairs", !pairs.empty()},
                  {"pairs", pairs},
                  {"count", fmt::to_string(references.rows.size())},
                  {"documents", documents_of(references)},
                  {"all", all}};
}

}  // namespace ranklab::report::page
