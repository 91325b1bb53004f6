// The assignment of gradients to buckets. Pure functions, without tensors and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::train {

/// PyTorch's default sizes of the first bucket and of later ones, in bytes.
inline constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20;
inline constexpr std::int64_t kBucketCapBytes = std::int64_t{25} << 20;

/// Size and kind (element type) of a gradient. Gradients of different kinds do not share a bucket.
struct GradientSize {
    std::int64_t bytes = 0;
    int kind = 0;
};

/// The buckets in the order in which they are reduced, each a list of parameter indices.
using BucketPlan = std::vector<std::vector<std::size_t>>;

/// Takes gradients in `order` and closes a bucket once it holds its limit or more, as PyTorch's DDP
/// does (c10d::compute_bucket_assignment_by_size). The limit is `first_cap` for the first bucket of
/// each kind, so that communication starts early, then `cap`. Buckets are sorted by their first
/// member's position in `order`.
BucketPlan plan_buckets(const std::vector<GradientSize>& sizes,
                        const std::vector<std::size_t>& order, std::int64_t first_cap,
                        std::int64_t cap);

/// The blocks of ZeRO's stage 3: consecutive parameters of one kind. A block holds whole layers
/// (modules with their own parameters), as many as it takes to reach `least_bytes`.
BucketPlan plan_blocks(const std::vector<std::string>& names,
                       const std::vector<GradientSize>& sizes, std::int64_t least_bytes);

/// Returns count-1 ... 0, an estimate of the order in which backward reaches the parameters.
std::vector<std::size_t> reverse_order(std::size_t count);

/// Returns a permutation of 0 ... count-1: `ready`, the parameters in the order in which backward
/// reached them, then the other parameters in reverse order.
std::vector<std::size_t> completed_order(const std::vector<std::size_t>& ready, std::size_t count);

}  // namespace ranklab::train
