#include "data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace ranklab::data {
namespace {

using Indices = std::vector<std::int64_t>;

struct Case {
    std::int64_t samples, world_size, batch;
};

std::vector<Sampler> all_ranks(const Case& c, Sharding sharding, bool shuffle = true) {
    std::vector<Sampler> ranks;
    for (std::int64_t rank = 0; rank < c.world_size; ++rank) {
        ranks.emplace_back(Sampler::Config{.samples = c.samples,
                                           .rank = rank,
                                           .world_size = c.world_size,
                                           .batch = c.batch,
                                           .sharding = sharding,
                                           .shuffle = shuffle,
                                           .seed = 7});
    }
    return ranks;
}

/// The samples that all ranks take in one step.
Indices global_batch(const std::vector<Sampler>& ranks, std::int64_t step) {
    Indices all;
    for (const auto& rank : ranks) {
        const auto mine = rank.batch(step);
        all.insert(all.end(), mine.begin(), mine.end());
    }
    return all;
}

/// How often each sample is taken in the epoch.
std::map<std::int64_t, int> epoch_counts(const std::vector<Sampler>& ranks) {
    std::map<std::int64_t, int> counts;
    for (std::int64_t step = 0; step < ranks.front().steps_per_epoch(); ++step) {
        for (const auto index : global_batch(ranks, step)) ++counts[index];
    }
    return counts;
}

// Counts that divide, that leave a rest for some ranks or for one, fewer samples than ranks,
// batches larger than a share.
std::string case_name(const ::testing::TestParamInfo<Case>& tested) {
    const auto& c = tested.param;
    return std::to_string(c.samples) + "on" + std::to_string(c.world_size) + "by" +
           std::to_string(c.batch);
}

class EveryCase : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sampler, EveryCase,
                         ::testing::Values(Case{12, 1, 4}, Case{13, 1, 4}, Case{12, 2, 3},
                                           Case{13, 2, 3}, Case{13, 3, 4}, Case{14, 3, 2},
                                           Case{15, 4, 4}, Case{17, 4, 1}, Case{3, 4, 2},
                                           Case{1, 3, 1}, Case{10, 4, 64}, Case{100, 3, 7}),
                         case_name);

TEST_P(EveryCase, ExactTakesEverySampleOnce) {
    const auto ranks = all_ranks(GetParam(), Sharding::exact);
    const auto counts = epoch_counts(ranks);
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(GetParam().samples));
    for (const auto& [index, count] : counts) {
        EXPECT_TRUE(index >= 0 && index < GetParam().samples);
        EXPECT_EQ(count, 1) << "sample " << index;
    }
}

TEST_P(EveryCase, PadTakesEverySampleAndFillsUpToEqualShares) {
    const auto [samples, world, batch] = GetParam();
    const auto ranks = all_ranks(GetParam(), Sharding::pad);
    const auto counts = epoch_counts(ranks);
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(samples)) << "every sample is taken";
    std::int64_t taken = 0;
    for (const auto& [index, count] : counts) taken += count;
    const std::int64_t padded = (samples + world - 1) / world * world;
    EXPECT_EQ(taken, padded);
    for (std::int64_t step = 0; step < ranks.front().steps_per_epoch(); ++step) {
        for (const auto& rank : ranks)
            EXPECT_EQ(rank.batch(step).size(), ranks.front().batch(step).size()) << "step " << step;
    }
}

TEST_P(EveryCase, TheCountsAreThoseOfTheBatches) {
    for (const auto sharding : {Sharding::pad, Sharding::exact}) {
        const auto ranks = all_ranks(GetParam(), sharding);
        std::set<std::int64_t> seen;
        std::int64_t true_sum = 0;
        for (std::int64_t step = 0; step < ranks.front().steps_per_epoch(); ++step) {
            const auto batch = global_batch(ranks, step);
            const auto seen_before = seen.size();
            seen.insert(batch.begin(), batch.end());
            for (const auto& rank : ranks) {
                EXPECT_EQ(rank.global_count(step), static_cast<std::int64_t>(batch.size()));
                EXPECT_EQ(rank.true_count(step),
                          static_cast<std::int64_t>(seen.size() - seen_before))
                    << "step " << step;
            }
            EXPECT_FALSE(batch.empty()) << "step " << step << " has no samples on any rank";
            true_sum += ranks.front().true_count(step);
        }
        EXPECT_EQ(true_sum, GetParam().samples);
    }
}

TEST_P(EveryCase, AllRanksMakeEquallyManySteps) {
    for (const auto sharding : {Sharding::pad, Sharding::exact}) {
        for (const auto& rank : all_ranks(GetParam(), sharding)) {
            EXPECT_EQ(rank.steps_per_epoch(),
                      all_ranks(GetParam(), sharding).front().steps_per_epoch());
            EXPECT_TRUE(rank.batch(rank.steps_per_epoch()).empty())
                << "after the last step there is nothing";
        }
    }
}

// The 66 samples of a step are the same on 1, 2 and 3 ranks, which makes losses comparable between
// rank counts.
TEST(Sampler, TheGlobalBatchIsTheSameSetAtAnyRankCountThatDividesIt) {
    for (const auto sharding : {Sharding::pad, Sharding::exact}) {
        const auto one = all_ranks({660, 1, 66}, sharding);
        const auto two = all_ranks({660, 2, 33}, sharding);
        const auto three = all_ranks({660, 3, 22}, sharding);
        for (std::int64_t step = 0; step < 10; ++step) {
            const auto as_set = [step](const auto& ranks) {
                const auto all = global_batch(ranks, step);
                return std::multiset<std::int64_t>(all.begin(), all.end());
            };
            EXPECT_EQ(as_set(one).size(), 66U);
            EXPECT_EQ(as_set(one), as_set(two)) << "step " << step;
            EXPECT_EQ(as_set(one), as_set(three)) << "step " << step;
        }
    }
}

Indices epoch_order(Sampler& sampler, std::int64_t epoch) {
    sampler.set_epoch(epoch);
    Indices order;
    for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
        const auto batch = sampler.batch(step);
        order.insert(order.end(), batch.begin(), batch.end());
    }
    return order;
}

TEST(Dealt, GivesEachHandWhatARankWouldTake) {
    using Samples = std::vector<std::int64_t>;
    EXPECT_EQ(dealt(Samples{5, 6, 7, 8, 9}, 1), (Samples{5, 6, 7, 8, 9}));
    EXPECT_EQ(dealt(Samples{5, 6, 7, 8, 9}, 2), (Samples{5, 7, 9, 6, 8}));
    EXPECT_EQ(dealt(Samples{5, 6}, 3), (Samples{5, 6}));
    EXPECT_EQ(dealt(Samples{}, 3), Samples{});
    for (const std::int64_t hands : {2, 3}) {
        Sampler whole({.samples = 60, .batch = 12, .seed = 4});
        const auto deal = dealt(whole.draws(3), hands);
        std::vector<Draw> of_ranks;
        for (std::int64_t rank = 0; rank < hands; ++rank) {
            Sampler one(
                {.samples = 60, .rank = rank, .world_size = hands, .batch = 12 / hands, .seed = 4});
            const auto batch = one.draws(3);
            of_ranks.insert(of_ranks.end(), batch.begin(), batch.end());
        }
        EXPECT_EQ(deal, of_ranks) << hands;
    }
}

// Where a crop lies and how it is turned follows from the sample's place in the epoch: the global
// batch is the same whatever the ranks, and no two samples share a number.
TEST(Sampler, RandomNumbersDoNotDependOnTheRanks) {
    std::vector<std::uint64_t> numbers;
    for (const std::int64_t ranks : {1, 2, 3}) {
        std::vector<Draw> all;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            Sampler one(
                {.samples = 60, .rank = rank, .world_size = ranks, .batch = 12 / ranks, .seed = 4});
            one.set_epoch(2);
            const auto draws = one.draws(1);
            all.insert(all.end(), draws.begin(), draws.end());
        }
        std::vector<std::uint64_t> these;
        for (const auto& draw : all) these.push_back(draw.random);
        std::sort(these.begin(), these.end());
        EXPECT_EQ(std::adjacent_find(these.begin(), these.end()), these.end());
        EXPECT_EQ(these.size(), 12U);
        if (numbers.empty()) numbers = these;
        EXPECT_EQ(these, numbers) << ranks << " ranks";
    }
    Sampler other({.samples = 60, .batch = 12, .seed = 4});
    EXPECT_EQ(std::find(numbers.begin(), numbers.end(), other.draws(1).front().random),
              numbers.end())
        << "another epoch";
}

TEST(Sampler, EpochsDifferAndCanBeRepeated) {
    Sampler sampler({.samples = 50, .batch = 8, .seed = 3});
    const auto at_first = epoch_order(sampler, 0);
    const auto second = epoch_order(sampler, 1);
    EXPECT_NE(at_first, second);
    EXPECT_TRUE(std::is_permutation(at_first.begin(), at_first.end(), second.begin()));
    EXPECT_EQ(epoch_order(sampler, 0), at_first) << "an epoch's order depends on its number alone";
    Sampler fresh({.samples = 50, .batch = 8, .seed = 3});
    EXPECT_EQ(epoch_order(fresh, 1), second);
    Sampler other_seed({.samples = 50, .batch = 8, .seed = 4});
    EXPECT_NE(epoch_order(other_seed, 0), at_first);
    EXPECT_EQ(epoch_order(other_seed, 0), second) << "DistributedSampler seeds with seed + epoch";
}

TEST(Sampler, WithoutShufflingTheOrderIsThatOfTheFile) {
    const auto ranks = all_ranks({7, 2, 2}, Sharding::pad, false);
    EXPECT_EQ(global_batch(ranks, 0), (Indices{0, 2, 1, 3}));
    EXPECT_EQ(global_batch(ranks, 1), (Indices{4, 6, 5, 0})) << "rank 1 wraps to the beginning";
}

// list(DistributedSampler(range(10), num_replicas=3, rank=r, shuffle=False)) for r in 0, 1, 2, of
// PyTorch 2.11
TEST(Sampler, PadsAsDistributedSampler) {
    const auto ranks = all_ranks({10, 3, 4}, Sharding::pad, false);
    EXPECT_EQ(global_batch(ranks, 0), (Indices{0, 3, 6, 9, 1, 4, 7, 0, 2, 5, 8, 1}));
}

// torch.randperm(10, generator=torch.Generator().manual_seed(s)).tolist() of PyTorch 2.11
TEST(TorchPermutation, IsTorchs) {
    EXPECT_EQ(torch_permutation(10, 0U), (Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}));
    EXPECT_EQ(torch_permutation(10, 1U), (Indices{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}));
    EXPECT_EQ(torch_permutation(10, 42U), (Indices{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}));
    EXPECT_EQ(torch_permutation(10, 4294967295U), (Indices{1, 4, 6, 2, 0, 5, 8, 7, 9, 3}));
}

}  // namespace
}  // namespace ranklab::data
