// Assigns samples to ranks and steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/source.hpp"

namespace ranklab::data {

/// pad: all ranks get the same number of samples, as in PyTorch's DistributedSampler: the first
///      samples are repeated at the end. samples/s leaves repeats out.
/// exact: every sample once. Ranks may differ by one sample; the mean over ranks is weighted.
enum class Sharding { pad, exact };

/// torch.randperm(n), for n < 2^32/20, after torch.manual_seed(seed) on the CPU: Fisher-Yates with
/// mt19937, which swaps element i with i + (random % (n - i)). Tested by tests/oracle.
std::vector<std::int64_t> torch_permutation(std::int64_t n, std::uint64_t seed);

/// Sorts a global batch by rank: first the samples that rank 0 of `hands` ranks would take (every
/// `hands`-th sample), then rank 1's, and so on.
template <class Sample>
std::vector<Sample> dealt(const std::vector<Sample>& samples, std::int64_t hands) {
    std::vector<Sample> order;
    order.reserve(samples.size());
    for (std::int64_t hand = 0; hand < hands; ++hand)
        for (std::size_t i = hand; i < samples.size(); i += hands) order.push_back(samples[i]);
    return order;
}

class Sampler {
  public:
    struct Config {
        std::int64_t samples = 0;
        std::int64_t rank = 0;
        std::int64_t world_size = 1;
        std::int64_t batch = 1;  ///< local batch
        Sharding sharding = Sharding::pad;
        bool shuffle = true;
        std::uint64_t seed = 1;
    };
    explicit Sampler(const Config& config);

    /// Equal on all ranks.
    std::int64_t steps_per_epoch() const { return steps_; }

    /// Shuffles with seed + epoch, as DistributedSampler.set_epoch.
    void set_epoch(std::int64_t epoch);
    std::int64_t epoch() const { return epoch_; }

    /// This rank's sample indices in `step` of the epoch; with `exact` the last step may have none.
    std::span<const std::int64_t> batch(std::int64_t step) const;
    /// The samples of a step with their random numbers. A number follows from seed, epoch and the
    /// sample's position in the epoch over all ranks, so that it is equal at any rank count.
    std::vector<Draw> draws(std::int64_t step) const;
    std::int64_t local_count(std::int64_t step) const { return count_on(config_.rank, step); }
    /// Samples of all ranks in `step`, repeats included: the divisor of the mean loss.
    std::int64_t global_count(std::int64_t step) const;
    /// Samples of all ranks in `step` without repeats, for samples/s.
    std::int64_t true_count(std::int64_t step) const;

  private:
    std::int64_t local_size(std::int64_t rank) const;
    std::int64_t count_on(std::int64_t rank, std::int64_t step) const;

    Config config_;
    std::int64_t steps_ = 0;
    std::int64_t epoch_ = 0;
    std::vector<std::int64_t> mine_;
};

}  // namespace ranklab::data
