#include "experiments/shared/verdicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::experiments {
namespace {

using ::testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

results::Run trained() {
    results::Run run;
    run.config = {{"global-batch-size", "64", true}};
    run.context = {{"training", "train_samples", "640"}};
    return run;
}

std::vector<std::string> doubts(results::Run run) {
    warn_of_oversized_batch(run);
    return run.warnings;
}

TEST(Doubts, ABatchThatTheDataSetCannotFill) {
    auto run = trained();
    EXPECT_THAT(doubts(run), IsEmpty());
    run.config[0].value = "641";
    EXPECT_THAT(doubts(run), ElementsAre(AllOf(HasSubstr("641"), HasSubstr("640"))));
    run.context.clear();
    EXPECT_THAT(doubts(run), IsEmpty()) << "how many samples there are is not known";
}

TEST(Doubts, RunsOfAnotherKindHaveNone) {
    EXPECT_THAT(doubts({}), IsEmpty());
}

}  // namespace
}  // namespace ranklab::experiments
