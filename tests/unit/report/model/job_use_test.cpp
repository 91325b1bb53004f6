#include "report/model/job_use.hpp"

#include <gtest/gtest.h>

#include "results/rows.hpp"
#include "unit/report/outputs.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

results::Run run_with(results::Rows rows) {
    results::Run run;
    run.tables.push_back(std::move(rows).table());
    return run;
}

// Two ranks on each of two hosts, the second of which computes half as much; its CPUs count once.
TEST(JobUse, IsOfEachHost) {
    results::Rows ranks("job_use");
    ranks.add({std::int64_t{0}, "n1", 10.0, 9.0, std::int64_t{2}, 100 * kMiB, 1024 * kMiB});
    ranks.add({std::int64_t{1}, "n1", 10.0, 10.0, std::int64_t{0}, 100 * kMiB, 1024 * kMiB});
    ranks.add({std::int64_t{2}, "n2", 10.0, 5.0, std::int64_t{2}, 300 * kMiB, 0 * kMiB});
    ranks.add({std::int64_t{3}, "n2", 9.0, 4.5, std::int64_t{0}, 50 * kMiB, 0 * kMiB});
    auto hosts = job_use(run_with(std::move(ranks)));
    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[0].cpus, 2);
    EXPECT_DOUBLE_EQ(hosts[0].percent(), 95);
    EXPECT_DOUBLE_EQ(hosts[1].percent(), 47.5);
    EXPECT_DOUBLE_EQ(hosts[1].peak_rss_bytes, 350.0 * kMiB);
    Outputs all;
    all.add("two hosts", use_text(hosts));
    hosts.pop_back();
    all.add("one host", use_text(hosts));
    all.expect("job_use.txt");
    EXPECT_TRUE(job_use({}).empty()) << "an older run";
    EXPECT_EQ(use_text({}), "");
}

}  // namespace
}  // namespace ranklab::report::model
