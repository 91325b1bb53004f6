#include "data/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace ranklab::data {

std::vector<std::int64_t> torch_permutation(std::int64_t n, std::uint64_t seed) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed & 0xFFFFFFFFU));
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::int64_t i = 0; i < n - 1; ++i) {
        const auto offset = static_cast<std::int64_t>(random()) % (n - i);
        std::swap(order[i], order[i + offset]);
    }
    return order;
}

Sampler::Sampler(const Config& config) : config_(config) {
    const std::int64_t longest = (config_.samples + config_.world_size - 1) / config_.world_size;
    steps_ = (longest + config_.batch - 1) / config_.batch;
    set_epoch(0);
}

std::int64_t Sampler::local_size(std::int64_t rank) const {
    const std::int64_t share = config_.samples / config_.world_size;
    const std::int64_t rest = config_.samples % config_.world_size;
    if (rest == 0) return share;
    return config_.sharding == Sharding::pad || rank < rest ? share + 1 : share;
}

void Sampler::set_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    std::vector<std::int64_t> order;
    if (config_.shuffle) order = torch_permutation(config_.samples, config_.seed + epoch);
    // Rank r takes positions r, r + world, r + 2 world ...: a global batch then holds the same
    // samples at any rank count. With `pad`, positions past the end wrap around.
    mine_.resize(local_size(config_.rank));
    for (std::int64_t i = 0; i < std::ssize(mine_); ++i) {
        const auto position = (config_.rank + i * config_.world_size) % config_.samples;
        mine_[i] = config_.shuffle ? order[position] : position;
    }
}

std::int64_t Sampler::count_on(std::int64_t rank, std::int64_t step) const {
    return std::clamp<std::int64_t>(local_size(rank) - step * config_.batch, 0, config_.batch);
}

std::span<const std::int64_t> Sampler::batch(std::int64_t step) const {
    const std::int64_t begin = std::min<std::int64_t>(step * config_.batch, std::ssize(mine_));
    return std::span(mine_).subspan(begin, count_on(config_.rank, step));
}

std::vector<Draw> Sampler::draws(std::int64_t step) const {
    std::vector<Draw> draws;
    std::int64_t position = config_.rank + step * config_.batch * config_.world_size;
    for (const std::int64_t index : batch(step)) {
        draws.push_back({index, random_of(config_.seed, epoch_, position)});
        position += config_.world_size;
    }
    return draws;
}

std::int64_t Sampler::global_count(std::int64_t step) const {
    std::int64_t count = 0;
    for (std::int64_t rank = 0; rank < config_.world_size; ++rank) count += count_on(rank, step);
    return count;
}

std::int64_t Sampler::true_count(std::int64_t step) const {
    // Repeats come last, so counting stops at the number of samples.
    const std::int64_t before =
        std::min(step * config_.batch * config_.world_size, config_.samples);
    return std::min(before + global_count(step), config_.samples) - before;
}

}  // namespace ranklab::data
