#include "report/model/job_use.hpp"

#include <gtest/gtest.h>

#include "results/rows.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

// Two ranks on each of two hosts, the second of which computes half as much.
results::Run run_of_two_hosts() {
    results::Rows table("job_use");
    table.add({std::int64_t{0}, "n1", 10.0, 9.0, std::int64_t{2}, 100 * kMiB, 1024 * kMiB});
    table.add({std::int64_t{1}, "n1", 10.0, 10.0, std::int64_t{0}, 100 * kMiB, 1024 * kMiB});
    table.add({std::int64_t{2}, "n2", 10.0, 5.0, std::int64_t{2}, 300 * kMiB, 0 * kMiB});
    table.add({std::int64_t{3}, "n2", 9.0, 4.5, std::int64_t{0}, 50 * kMiB, 0 * kMiB});
    results::Run run;
    run.tables.push_back(std::move(table).table());
    return run;
}

TEST(JobUse, is_of_each_host_and_counts_its_cpus_once) {
    const auto hosts = job_use(run_of_two_hosts());
    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[0].cpus, 2);
    EXPECT_DOUBLE_EQ(hosts[0].percent(), 95);
    EXPECT_DOUBLE_EQ(hosts[1].percent(), 47.5);
    EXPECT_DOUBLE_EQ(hosts[1].peak_rss_bytes, 350.0 * kMiB);
}

TEST(JobUse, of_several_hosts_names_the_laziest_and_the_fullest) {
    EXPECT_EQ(
        use_text(job_use(run_of_two_hosts())),
        "71 % of the time of 4 CPUs for 10 s (waiting in MPI counts; least: 48 % on n2); memory 350.0 MiB at "
        "most, on n2");
}

TEST(JobUse, of_one_host_says_what_was_asked_for) {
    results::Run run = run_of_two_hosts();
    auto hosts = job_use(run);
    hosts.pop_back();
    EXPECT_EQ(use_text(hosts),
              "95 % of the time of 2 CPUs for 10 s (waiting in MPI counts); memory 200.0 MiB of "
              "1.0 GiB asked");
}

TEST(JobUse, of_sums_of_hosts_is_the_same) {
    results::Rows table("host_use");
    table.add({"n1", "0-1", 10.0, 19.0, std::int64_t{2}, 200 * kMiB, 1024 * kMiB});
    table.add({"n2", "2-3", 10.0, 9.5, std::int64_t{2}, 350 * kMiB, 0 * kMiB});
    results::Run run;
    run.tables.push_back(std::move(table).table());
    EXPECT_EQ(use_text(job_use(run)), use_text(job_use(run_of_two_hosts())));
}

TEST(JobUse, of_an_older_run_is_not_known) {
    EXPECT_TRUE(job_use({}).empty());
    EXPECT_EQ(use_text({}), "");
}

}  // namespace
}  // namespace ranklab::report::model
