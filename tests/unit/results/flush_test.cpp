// An append syncs the new version before the rename, and the folder after it.
#include "support/flush_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/result_file.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

TEST(Append, IsFlushedThenRenamedThenTheFolderIsFlushed) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(sample_run());
    auto& log = tests::flush_log();
    log.clear();
    file.append(sample_run("20261121T101501Z-000001"));
    ASSERT_GE(log.size(), 3U);
    std::string staged;
    for (const auto& call : log)
        if (call.rfind("rename ", 0) == 0 && call.ends_with(" " + (folder / "r.h5").string()))
            staged = call.substr(7, call.size() - 8 - (folder / "r.h5").string().size());
    ASSERT_FALSE(staged.empty()) << ::testing::PrintToString(log);
    const auto place = [&](const std::string& call) {
        return std::find(log.begin(), log.end(), call) - log.begin();
    };
    const auto renamed = place("rename " + staged + " " + (folder / "r.h5").string());
    EXPECT_LT(place("fsync " + staged), renamed);
    EXPECT_EQ(log.back(), "fsync " + folder.path().string());
    EXPECT_GT(std::ssize(log) - 1, renamed);
}

}  // namespace
}  // namespace ranklab::results
