// What a run used of its job, and what --monitor saw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/diagnosis/diagnosis.hpp"
#include "report/formats/answer.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

results::Run run_with(results::Table table) {
    results::Run run;
    run.tables = {std::move(table)};
    return run;
}

// Two hosts with two ranks each; the second host computes half as much. CPUs are stored once per
// host.
TEST(JobUse, IsOfEachHost) {
    const auto add = [](results::Rows& to, int rank, const char* host, double process_s,
                        double process_cpu_s, int cpus, int mib, int asked_mib) {
        to.add({std::int64_t{rank}, host, 1.0, 1.0, std::int64_t{cpus}, mib * kMiB,
                asked_mib * kMiB, process_s, process_cpu_s});
    };
    results::Rows ranks("job_use"), first("job_use");
    add(ranks, 0, "n1", 10, 9, 2, 100, 1024);
    add(ranks, 1, "n1", 10, 10, 0, 100, 1024);
    add(ranks, 2, "n2", 10, 5, 2, 300, 0);
    add(ranks, 3, "n2", 9, 4.5, 0, 50, 0);
    add(first, 0, "n1", 10, 9, 2, 100, 1024);
    results::Table older = results::Rows(first).table();
    older.columns.resize(older.columns.size() - 2);
    Outputs all;
    all.add("two hosts", use_text(run_with(std::move(ranks).table())));
    all.add("one host, 1 GiB asked for", use_text(run_with(std::move(first).table())));
    all.add("an older run, of its counted part", use_text(run_with(older)));
    all.expect("job_use.txt");
    EXPECT_EQ(use_text({}), "") << "a run of 0.1.0";
    results::Run threads = run_with(older);
    threads.measurements = {results::one_value("threads", "1", results::Kind::count, {5})};
    EXPECT_THAT(use_text(threads), HasSubstr(", at most 5 threads per rank, "));
}

// A step's phases in per cent, and two samples of a GPU that rank 0 uses, and one of an idle GPU.
results::Run monitored(double data, double launch_s) {
    results::Run run;
    results::Rows phases("phases"), gpus("gpu_monitor");
    const auto add_phase = [&](const char* name, double percent) {
        phases.add({name, std::int64_t{10}, percent / 10, percent / 100, percent});
    };
    add_phase("data", data);
    add_phase("forward", 100 - data);
    add_phase("step", 100);
    const auto add_gpu = [&](int rank, double busy, double watts) {
        gpus.add(
            {1.0, "n1", "0", "GPU", std::int64_t{rank}, busy, 1e9, watts, 40.0, 1000.0, "", 0.0});
    };
    add_gpu(0, 90, 200);
    add_gpu(0, 100, 400);
    add_gpu(-1, 0, 50);
    run.tables = {std::move(phases).table(), std::move(gpus).table()};
    for (const auto& [name, seconds] :
         {std::pair("forward_time_s", 0.4), std::pair("backward_time_s", 0.6),
          std::pair("launch_time_s", launch_s)})
        run.measurements.push_back(results::one_value(name, "s", results::Kind::cost, {seconds}));
    return run;
}

TEST(MonitorLine, HasMeansMaximaAndWhatTheGpuWaitedFor) {
    EXPECT_THAT(monitor_text(monitored(2, 0.1)),
                AllOf(HasSubstr("busy 95.0 % (at most 100 %)"), HasSubstr("300 W (at most 400 W)"),
                      EndsWith("; fully used")));
    EXPECT_THAT(monitor_text(monitored(40, 0.1)),
                EndsWith("not fully used: 40 % waiting for samples"));
    EXPECT_THAT(monitor_text(monitored(2, 0.95)),
                HasSubstr("not fully used: GPUs wait until the host has launched"));
    EXPECT_EQ(monitor_text({}), "");
}

TEST(Answer, HasTheTimeToALossWithAndWithoutAWholeEpoch) {
    results::Run run;
    run.command = "train", run.valid = true;
    run.measurements = {results::one_value("time_to_loss_s", "s", results::Kind::cost, {12}),
                        results::one_value("training_time_s", "s", results::Kind::cost, {30})};
    run.tables = {{"epochs",
                   {{"epoch", std::vector<std::int64_t>{1, 2}},
                    {"steps", std::vector<std::int64_t>{4, 3}},
                    {"steps_per_epoch", std::vector<std::int64_t>{5, 5}},
                    {"validation_loss", std::vector<double>{3, 1.25}}}}};
    EXPECT_THAT(answer_text(run), AllOf(HasSubstr("total         target loss reached after 12"),
                                        HasSubstr("test loss     1.25")));
    std::get<std::vector<std::int64_t>>(run.tables[0].columns[1].values)[0] = 5;
    EXPECT_THAT(answer_text(run), HasSubstr("30.0 s of training, with its evaluations; target loss "
                                            "reached"));
}

// The text with each line break and indentation as one space.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text)
        if (c > ' ')
            line += c;
        else if (!line.ends_with(' '))
            line += ' ';
    return line;
}

results::Measurement step_times(double first_s, double usual_s) {
    results::Measurement steps{
        "step_time_s",      "s", results::Kind::cost, "max", "step", 1, {usual_s, usual_s},
        {first_s, usual_s}, {}};
    steps.summary.n = 2, steps.summary.median = usual_s;
    return steps;
}

// 50,000 images on 2 ranks; only the first step is longer than the others.
TEST(Answer, SaysWhyAnEpochHasItsStepsAndWhyTheFirstOneIsLonger) {
    results::Run run;
    run.command = "train", run.valid = true;
    run.config = {{"global-batch-size", "128", true}};
    run.hosts = {{0, 0, "n1", "0", "cpu"}, {1, 1, "n1", "1", "cpu"}};
    run.measurements = {step_times(0.5, 0.02)};
    run.tables = {{"epochs",
                   {{"epoch", std::vector<std::int64_t>{1, 2}},
                    {"steps", std::vector<std::int64_t>{391, 391}},
                    {"steps_per_epoch", std::vector<std::int64_t>{391, 391}},
                    {"samples", std::vector<std::int64_t>{50000, 50000}},
                    {"time_s", std::vector<double>{8.5, 8}}}}};
    EXPECT_THAT(
        on_one_line(answer_text(run)),
        AllOf(HasSubstr("391 steps per epoch: 50000 samples in batches of 128 (64 per rank)"),
              HasSubstr("epoch 1 took 500 ms longer than epoch 2, 480 ms of it in its first step, "
                        "which sets up buffers and connections")));
    run.measurements = {step_times(0.02, 0.02)};
    EXPECT_THAT(answer_text(run), Not(HasSubstr("longer than epoch")));
}

// The line BENCHY and the result are one number, whatever the median of the trials is.
TEST(Answer, OfAnAblationHasOneRate) {
    results::Run run;
    run.command = "train", run.valid = true;
    results::Rows trials("ablation");
    trials.add({"io", std::int64_t{3}, std::int64_t{5}, 900.0, 1.0, 0.1});
    trials.add({"full", std::int64_t{3}, std::int64_t{5}, 123.4, 1.0, 0.1});
    run.tables = {std::move(trials).table()};
    run.measurements = {results::one_value("throughput_full_samples_per_s", "samples/s",
                                           results::Kind::rate, {125})};
    EXPECT_THAT(answer_text(run), AllOf(HasSubstr("FULL average trial throughput: 123.400"),
                                        HasSubstr("123 samples/s on 1 rank, mean of 3 trials"),
                                        Not(HasSubstr("125"))));
}

// Others used a quarter of a core: of the waits for cores that much is a loss.
TEST(PartsOfStep, DivideTheWaitsForCoresAsWhyDoes) {
    results::Run run;
    results::Rows phases("phases");
    phases.add({"forward", std::int64_t{2}, 1.0, 1.0, 100.0});
    run.tables = {std::move(phases).table()};
    run.hosts = {{0, 0, "n1", "0-1", "cpu", 1, "0-1"}};
    run.context.push_back({"place", "others_cores", "0.25"});
    for (const auto& [name, seconds] :
         {std::pair("step_time_s", 1.0), std::pair("core_wait_time_s", 0.5)})
        run.measurements.push_back({name,
                                    "s",
                                    results::Kind::cost,
                                    "max",
                                    "step",
                                    1,
                                    std::vector<double>(2, seconds),
                                    {},
                                    {}});
    EXPECT_THAT(shares_of(parts_of_step(run), 0),
                ElementsAre("75 % computing", "25 % waiting for a core"));
    const auto why = diagnosis::diagnose(run).parts;
    EXPECT_EQ(why.at(1, "part").text, "waiting for a core");
    EXPECT_DOUBLE_EQ(why.at(1, "percent").number, 25);
}

}  // namespace
}  // namespace ranklab::report::formats
