// Workers that do not end: the parent waits for seconds before it ends them by force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "thrown_sentence.hpp"
#include "unit/io/process_fixture.hpp"

namespace ranklab::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ProcessEnds : public testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(, ProcessEnds, testing::ValuesIn(kWays), label_of);

TEST_P(ProcessEnds, AWorkerThatClosesItsPipeAndStays) {
    ProcessStrategyRun run(GetParam().strategy, 3, 10, 2);
    run.job.async = GetParam().async;
    run.job.worker_program = run.folder.write("worker", "#!/bin/sh\nexec 3>&-; exec 4>&-; exec sleep 1000\n");
    std::filesystem::permissions(run.job.worker_program, std::filesystem::perms::owner_all);
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([&] { run.all(); }), HasSubstr("ended by force"));
    EXPECT_TRUE(has_no_child()) << "a worker lives on, or is a zombie";
}

TEST(IdlePool, AWorkerThatDoesNotEndIsEndedByForce) {
    ProcessStrategyRun run("process-pool", 4, 10, 2);
    run.open();
    run.strategy->write();
    ::kill(children_of(::getpid()).at(0), SIGSTOP);
    const auto sentence = thrown_sentence<base::EnvironmentError>([&] { run.strategy->close(); });
    EXPECT_THAT(sentence, AllOf(HasSubstr("worker 0 "), HasSubstr("ended by force")));
    EXPECT_TRUE(has_no_child());
}

}  // namespace
}  // namespace ranklab::tests
