// Which samples a rank takes in which step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/source.hpp"

namespace ranklab::data {

/// pad: the permutation is wrapped to a multiple of the ranks, so that all have equally many, as
///      in PyTorch's DistributedSampler; repeats are not counted in samples/s.
/// exact: every sample once; ranks may differ by one, the mean over ranks is weighted.
enum class Sharding { pad, exact };

/// Returns torch.randperm(n) after torch.manual_seed(seed) on the CPU: Fisher-Yates with mt19937,
/// element i swapped with i + (random % (n - i)). tests/oracle checks it against PyTorch. n <
/// 2^32/20, as there.
std::vector<std::int64_t> torch_permutation(std::int64_t n, std::uint64_t seed);

/// Deals `samples` out to `hands` in turn, and returns the first hand's (the first sample and every
/// hands-th after it), then the second's, and so on: the ranks' parts of a global batch in their
/// order.
template <class Sample>
std::vector<Sample> dealt(const std::vector<Sample>& samples, std::int64_t hands) {
    std::vector<Sample> order;
    order.reserve(samples.size());
    const std::size_t stride = hands;
    for (std::size_t hand = 0; hand < stride; ++hand) {
        for (std::size_t i = hand; i < samples.size(); i += stride) order.push_back(samples[i]);
    }
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

    /// Reshuffles by seed + epoch, as DistributedSampler.set_epoch.
    void set_epoch(std::int64_t epoch);
    std::int64_t epoch() const { return epoch_; }

    /// This rank's sample indices in `step` of the epoch; may be empty at an exact epoch's end.
    std::span<const std::int64_t> batch(std::int64_t step) const;
    /// The samples of a step with each one's random number, which follows from seed, epoch and the
    /// sample's place in the epoch's order over all ranks: it is the same at any rank count.
    std::vector<Draw> draws(std::int64_t step) const;
    std::int64_t local_count(std::int64_t step) const { return count_on(config_.rank, step); }
    /// Samples of all ranks in that step, repeats of padding included: the divisor of the mean.
    std::int64_t global_count(std::int64_t step) const;
    /// The samples of a step without repeats: these count in samples/s.
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
