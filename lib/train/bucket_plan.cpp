#include "train/bucket_plan.hpp"

#include <map>
#include <numeric>
#include <set>

namespace ranklab::train {
namespace {

struct Open {
    std::vector<std::size_t> members;
    std::size_t first_place = 0;
    std::int64_t bytes = 0;
    bool is_first = true;
};

}  // namespace

BucketPlan plan_buckets(const std::vector<GradientSize>& sizes,
                        const std::vector<std::size_t>& order, std::int64_t first_cap,
                        std::int64_t cap) {
    std::map<int, Open> open;                                // by kind
    std::map<std::size_t, std::vector<std::size_t>> closed;  // by the first member's place
    const auto close = [&closed](Open& bucket) {
        if (bucket.members.empty()) return;
        closed[bucket.first_place] = std::move(bucket.members);
        bucket = Open{.members = {}, .is_first = false};
    };
    for (std::size_t place = 0; place < order.size(); ++place) {
        const auto& size = sizes.at(order[place]);
        Open& bucket = open[size.kind];
        if (bucket.members.empty()) bucket.first_place = place;
        bucket.members.push_back(order[place]);
        bucket.bytes += size.bytes;
        if (bucket.bytes >= (bucket.is_first ? first_cap : cap)) close(bucket);
    }
    for (auto& [kind, bucket] : open) close(bucket);
    BucketPlan plan;
    for (auto& [place, members] : closed) plan.push_back(std::move(members));
    return plan;
}

BucketPlan plan_blocks(const std::vector<std::string>& names,
                       const std::vector<GradientSize>& sizes, std::int64_t least_bytes) {
    const auto layer_of = [&](std::size_t i) { return names[i].substr(0, names[i].rfind('.')); };
    BucketPlan plan;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool same_kind = i > 0 && sizes[i].kind == sizes[i - 1].kind;
        const bool same_layer = i > 0 && layer_of(i) == layer_of(i - 1);
        if (!same_kind || (!same_layer && bytes >= least_bytes)) {
            plan.emplace_back();
            bytes = 0;
        }
        plan.back().push_back(i);
        bytes += sizes[i].bytes;
    }
    return plan;
}

std::vector<std::size_t> reverse_order(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    return order;
}

std::vector<std::size_t> completed_order(const std::vector<std::size_t>& ready, std::size_t count) {
    auto order = ready;
    for (const std::size_t index : reverse_order(count)) order.push_back(index);
    std::set<std::size_t> seen;
    std::erase_if(order, [&](std::size_t index) { return !seen.insert(index).second; });
    return order;
}

}  // namespace ranklab::train
