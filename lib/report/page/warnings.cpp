#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/model/values.hpp"
#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::Word;
using figures::Words;

constexpr std::size_t kMostAtOnce = 6;  // a longer list is not read

struct Item {
    Words words;
    bool bad = false;
    std::string who = {}, run = {};  // "3 runs, newest", and that one's id
};

Item notice(const std::string& text, std::size_t runs, const std::string& newest, bool bad) {
    return {{figures::cut(text, 400)}, bad, runs == 1 ? "run" : fmt::format("{} runs, newest", runs), newest};
}

Item unverified(const std::vector<std::string>& runs) {
    const bool one = runs.size() == 1;
    return {
        {fmt::format("{} not verified: {} checks say “not verified”, since there was nothing to compare with "
                     "(one rank alone, no sync, no reading back), so nothing says that {} computed or wrote "
                     "the right thing.",
                     model::counted(runs.size(), "run") + (one ? " is" : " are"), one ? "its" : "their",
                     one ? "it" : "they")},
        false,
        one ? "run" : "newest",
        runs.back()};
}

Item invalid(const model::GroupedRuns& grouped) {
    return {{figures::strong(fmt::format("{} of {} runs are invalid.", grouped.invalid(), grouped.runs())),
             " None of their numbers is used."},
            true};
}

Item single(std::ptrdiff_t groups) {
    return {
        {fmt::format("{} group{} a single valid run: intervals are then of the steps or repetitions "
                     "within it. How far another run may be off is not in them.",
                     groups, groups == 1 ? " has" : "s have")}};
}

// The worst first.
std::vector<Item> items_of(const model::GroupedRuns& grouped) {
    std::vector<Item> items;
    if (grouped.invalid() > 0) items.push_back(invalid(grouped));
    for (const auto& why : grouped.invalid_runs().sorted())
        items.push_back(notice("INVALID: " + why.text, why.runs, why.newest, true));
    if (!grouped.failed().empty())
        items.push_back(
            notice("a verification failed", grouped.failed().size(), grouped.failed().back(), true));
    if (!grouped.unverified().empty()) items.push_back(unverified(grouped.unverified()));
    const auto alone = std::ranges::count_if(grouped.groups(), [](const model::Group& group) {
        return model::has_numbers(group) && group.runs.size() == 1;
    });
    if (alone > 0) items.push_back(single(alone));
    if (const auto apart = model::kept_apart(grouped); !apart.empty())
        items.push_back(
            {{"Runs of different surroundings are not pooled, and are no points of one curve: "
              "they differ in " +
              figures::cut(base::join(apart, "; "), 600) + "."}});
    for (const auto& warning : grouped.warnings().sorted())
        items.push_back(notice(warning.text, warning.runs, warning.newest, false));
    return items;
}

Object item_data(const PageInput& input, const Item& item) {
    Object data = run_link(input, item.run, item.run);
    data.insert({{"bad", item.bad}, {"who", if_any(item.who)}, {"words", words_data(item.words)}});
    return data;
}

}  // namespace

Data warnings_data(const PageInput& input) {
    const auto items = items_of(input.grouped());
    if (items.empty()) return false;
    List first, rest;
    for (std::size_t i = 0; i < items.size(); ++i)
        (i < kMostAtOnce ? first : rest).push_back(item_data(input, items[i]));
    const Data more =
        rest.empty() ? Data(false) : Data(Object{{"count", fmt::to_string(rest.size())}, {"rest", rest}});
    return Object{{"first", first}, {"more", more}};
}

}  // namespace ranklab::report::page
