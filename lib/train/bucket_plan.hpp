// Which gradients travel together. Pure arithmetic: no tensors, no ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranklab::train {

/// PyTorch's defaults; caps are in bytes.
inline constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20;
inline constexpr std::int64_t kBucketCapBytes = std::int64_t{25} << 20;

/// The properties of a parameter that a plan needs. Gradients of different kinds (element types) do
/// not share a bucket.
struct GradientSize {
    std::int64_t bytes = 0;
    int kind = 0;
};

/// Buckets in the order in which they are reduced; each lists parameters by index.
using BucketPlan = std::vector<std::vector<std::size_t>>;

/// Plans by the rule of PyTorch's DDP (c10d::compute_bucket_assignment_by_size): gradients are
/// taken in `order`; a bucket closes as soon as it holds its limit or more. The first limit of each
/// kind is `first_cap`, so that communication starts early, then `cap`. Buckets follow each other
/// by their first member's place in `order`.
BucketPlan plan_buckets(const std::vector<GradientSize>& sizes,
                        const std::vector<std::size_t>& order, std::int64_t first_cap,
                        std::int64_t cap);

/// Returns n-1 ... 0, about the order in which backward reaches the parameters, before it is known.
std::vector<std::size_t> reverse_order(std::size_t count);

/// Returns `ready` (the parameters that backward reached, in that order, each once), then the
/// others in reverse order: a permutation of 0 ... count-1.
std::vector<std::size_t> completed_order(const std::vector<std::size_t>& ready, std::size_t count);

}  // namespace ranklab::train
