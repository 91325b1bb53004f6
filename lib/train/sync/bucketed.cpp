
#include "comm/exchange.hpp"
#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

struct Bucket {
    std::vector<std::size_t> members;
    torch::Tensor buffer;      // the members' gradients are views of it
    torch::Tensor compressed;  // what is reduced; `buffer` itself without compression
    std::size_t pending = 0;   // members that backward has not reached yet
};

// Sums buckets of gradients while backward goes on. Gradients are views of their bucket: without
// compression nothing is copied. All ranks reduce the buckets in one order, even if a later bucket
// is complete first.
class BucketedSync final : public GradientSync {
  public:
    explicit BucketedSync(const SyncSetup& setup)
        : setup_(setup), queue_(setup.data, setup.progress, setup.transfer) {}

    void attach(std::vector<torch::Tensor> parameters) override {
        parameters_ = std::move(parameters);
        lay_out(reverse_order(parameters_.size()));
        hooks_ = std::make_unique<GradientHooks>(parameters_,
                                                 [this](std::size_t i) { on_gradient_ready(i); });
    }

    void begin_step(const std::vector<torch::Tensor>&, bool sync) override {
        if (fresh_) {
            if (order_is_known_) rebuild();
            for (auto& bucket : buckets_) bucket.buffer.zero_();
        }
        fresh_ = false;
        syncs_ = sync;
        if (!sync) return;
        queue_.begin_step();
        next_ = 0;
        for (auto& bucket : buckets_) bucket.pending = bucket.members.size();
    }

    void finish() override {
        syncs_ = false;
        // Gradients that backward did not reach on this rank (unused parameters, no samples) are
        // zero, and are reduced now.
        while (next_ < buckets_.size()) push_next();
        queue_.finish();
        for (const auto& bucket : buckets_) {
            if (setup_.compression != Compression::none) bucket.buffer.copy_(bucket.compressed);
        }
        order_is_known_ = !rebuilt_;
        fresh_ = true;
    }

    const std::vector<ReductionStamp>& stamps() const override { return queue_.stamps(); }
    BucketPlan buckets() const override {
        BucketPlan plan;
        for (const auto& bucket : buckets_) plan.push_back(bucket.members);
        return plan;
    }

  private:
    void on_gradient_ready(std::size_t parameter) {
        if (!syncs_) return;
        if (!rebuilt_) ready_order_.push_back(parameter);
        buckets_[bucket_of_[parameter]].pending -= 1;
        while (next_ < buckets_.size() && buckets_[next_].pending == 0) push_next();
        queue_.poll();
    }
    void push_next() {
        Bucket& bucket = buckets_[next_++];
        if (setup_.compression != Compression::none) bucket.compressed.copy_(bucket.buffer);
        queue_.push(view_of(bucket.compressed));
        if (next_ == buckets_.size()) queue_.hurry();
    }

    // Rebuilds the buckets once, after the first synchronised backward, in rank 0's order.
    void rebuild() {
        const auto mine = completed_order(ready_order_, parameters_.size());
        std::vector<std::int64_t> agreed(mine.begin(), mine.end());
        setup_.control.broadcast(comm::view(std::span(agreed)), 0);
        lay_out({agreed.begin(), agreed.end()});
        rebuilt_ = true;
        order_is_known_ = false;
    }

    void lay_out(const std::vector<std::size_t>& order) {
        const auto sizes = sizes_of(parameters_);
        buckets_.clear();
        bucket_of_.assign(parameters_.size(), 0);
        for (auto& members : plan_buckets(sizes, order, setup_.first_cap_bytes, setup_.cap_bytes)) {
            for (const std::size_t i : members) bucket_of_[i] = buckets_.size();
            buckets_.push_back(make_bucket(std::move(members)));
        }
    }
    Bucket make_bucket(std::vector<std::size_t> members) const {
        std::int64_t total = 0;
        for (const std::size_t i : members) total += parameters_[i].numel();
        Bucket bucket{.members = std::move(members), .buffer = {}, .compressed = {}, .pending = 0};
        bucket.buffer = torch::zeros(
            {total}, parameters_[bucket.members.front()].options().requires_grad(false));
        bucket.compressed = compressed_like(bucket.buffer);
        std::int64_t begin = 0;
        for (const std::size_t i : bucket.members) {
            parameters_[i].mutable_grad() =
                viewed_as(bucket.buffer.narrow(0, begin, parameters_[i].numel()), parameters_[i]);
            begin += parameters_[i].numel();
        }
        return bucket;
    }
    torch::Tensor compressed_like(const torch::Tensor& buffer) const {
        if (setup_.compression == Compression::none) return buffer;
        return torch::empty_like(
            buffer, buffer.options().dtype(
                        setup_.compression == Compression::fp16 ? torch::kHalf : torch::kBFloat16));
    }

    SyncSetup setup_;
    std::vector<torch::Tensor> parameters_;
    std::vector<Bucket> buckets_;
    std::vector<std::size_t> bucket_of_;  // by parameter
    std::size_t next_ = 0;                // the first bucket that is not pushed
    std::vector<std::size_t> ready_order_;
    bool order_is_known_ = false;
    bool rebuilt_ = false;
    bool fresh_ = true;
    bool syncs_ = false;
    ReductionQueue queue_;
    std::unique_ptr<GradientHooks> hooks_;
};

}  // namespace

SyncEntry bucketed_entry() {
    return {.name = "bucketed",
            .summary = "buckets of gradients, each summed while backward computes the next",
            .overlaps = true,
            .caps_buckets = true,
            .compresses = true,
            .shards = true,
            .make = [](const SyncSetup& setup) -> std::unique_ptr<GradientSync> {
                return std::make_unique<BucketedSync>(setup);
            }};
}

}  // namespace ranklab::train
