// What is said before a run whose samples become large.
#include "app/many_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::app {
namespace {

using results::KeptSamples;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ManySamples, AreToldFrom256MiBOn) {
    EXPECT_EQ(many_samples(KeptSamples::all, 1000, 3000, "steps"), "") << "80 bytes x n x s are 229 MiB";
    EXPECT_THAT(many_samples(KeptSamples::all, 1000, 3400, "steps"),
                AllOf(HasSubstr("1000 ranks and 3400 steps are about 259.4 MiB, which rank 0 "
                                "gathers and stores at the end; --keep-samples ranks stores"),
                      HasSubstr("(about 1.5 MiB)")));
}

TEST(ManySamples, ProposeOnlyWhatIsSmaller) {
    const auto alone = many_samples(KeptSamples::all, 1, 4'000'000, "repetitions");
    EXPECT_THAT(alone,
                AllOf(HasSubstr("of 1 rank and 4000000 repetitions"), Not(HasSubstr("--keep-samples"))));
    EXPECT_THAT(many_samples(KeptSamples::ranks, 4, 4'000'000, "steps"), Not(HasSubstr("--keep-samples")));
    EXPECT_EQ(many_samples(KeptSamples::summary, 100000, 1000, "steps"), "");
    EXPECT_THAT(many_samples(KeptSamples::all, 1'000'000, 10, "steps"), HasSubstr("--keep-samples summary"))
        << "the summaries of so many ranks are more than ten steps";
}

}  // namespace
}  // namespace ranklab::app
