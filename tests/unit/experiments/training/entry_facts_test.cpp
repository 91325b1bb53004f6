// What a run of an older version did follows from the names of its catalogue entries: the table in
// vocabulary/names/older_facts.txt and the entries' properties agree.
#include <gtest/gtest.h>

#include "data/dataset.hpp"
#include "results/run.hpp"
#include "train/gradient_sync.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {
namespace {

TEST(EntryFacts, OfOlderRunsAreThePropertiesOfTheirSync) {
    for (const auto& entry : train::gradient_syncs()) {
        SCOPED_TRACE(entry.name);
        results::Run run;
        run.config = {{"mode", "ddp"}, {"sync", entry.name}, {"mpi-progress", "thread"}};
        EXPECT_EQ(run.says(vocabulary::fact::kSumsGradients), entry.keeps_ranks_equal);
        EXPECT_EQ(run.says(vocabulary::fact::kSumsAtOnce), entry.sums_at_once);
        EXPECT_EQ(run.says(vocabulary::fact::kSumsInBackward), entry.overlaps);
        EXPECT_EQ(run.says(vocabulary::fact::kCapsBuckets), entry.caps_buckets);
        EXPECT_EQ(run.says(vocabulary::fact::kWaitsInBackward), entry.waits_in_backward);
        run.config.back().value = "none";
        EXPECT_FALSE(run.says(vocabulary::fact::kSumsInBackward));
        run.add_fact(vocabulary::fact::kSumsInBackward, vocabulary::FactWord::yes);
        EXPECT_TRUE(run.says(vocabulary::fact::kSumsInBackward)) << "as stored";
    }
}

TEST(EntryFacts, OfOlderRunsAreThePropertiesOfTheirData) {
    for (const auto& entry : data::sources()) {
        results::Run run;
        run.config = {{"data", entry.name}};
        EXPECT_EQ(run.says(vocabulary::fact::kReadsInTurn), entry.reads_in_turn) << entry.name;
    }
}

}  // namespace
}  // namespace ranklab::experiments
