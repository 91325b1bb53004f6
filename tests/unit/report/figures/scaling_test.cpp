#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/figures/figure.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::figures {
namespace {

using results::StoredRun;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const Words& words) {
    std::string text;
    for (const auto& word : words) text += word.text;
    return text;
}

// Every series' base lies at (1, 1): which one was crowded is no matter of the place.
TEST(ScalingFigures, TheBaseThatWasOversubscribedIsMarkedAndNoOther) {
    std::vector<StoredRun> runs;
    for (const char* sync : {"flat", "ring"})
        for (const int ranks : {1, 2}) {
            runs.push_back(step_run(fmt::format("{}{}", sync, ranks), ranks, 0.1, sync));
            for (auto& row : runs.back().hosts) row.cpus = "0-3";
        }
    std::erase_if(runs[2].config, [](const auto& one) { return one.key == "threads"; });
    runs[2].config.push_back({"threads", "8", true});  // of ring's base
    model::GroupedRuns grouped;
    for (const auto& run : runs) grouped.add(results::Run(run));
    const auto load = [&](const std::string& id) -> results::Run {
        return *std::ranges::find(runs, id, &StoredRun::id);
    };
    const auto table = joined_table(scaling_figures({grouped, load, {}}, stats::Scaling::weak));
    std::vector<std::string> marked;
    for (const auto& row : table.rows)
        if (text_of(row[1]).find("oversubscribed") != std::string::npos) marked.push_back(text_of(row[0]));
    ASSERT_EQ(marked.size(), 1U);
    EXPECT_THAT(marked[0], AllOf(HasSubstr("ring"), Not(HasSubstr("flat"))));
}

}  // namespace
}  // namespace ranklab::report::figures
