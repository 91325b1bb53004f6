// A gradient sync that shards the training state over ranks: the three stages of ZeRO (Rajbhandari
// et al., arXiv:1910.02054). docs/adr/0028-sharding.md says why it is one class.
#pragma once

#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <unordered_map>
#include <vector>

#include "nn/model.hpp"
#include "train/gradient_sync.hpp"

namespace ranklab::train {

struct ZeroConfig {
    int stage = 1;  ///< 1: shards the optimizer's state; 2: the gradients, too; 3: the parameters
    std::int64_t prefetch_blocks = 1;  ///< stage 3: blocks that are gathered ahead of their use
    int landings = 2;  ///< buffers in host memory, used in turn for the terms of sums
};

/// Bytes of a rank's tensors.
struct ShardedBytes {
    std::int64_t parameters = 0, gradients = 0, optimizer = 0;  ///< between steps
    /// Peak within a step: gathered blocks (stage 3), gradients that are not summed (2, 3), and
    /// what ranks exchange in host memory.
    std::int64_t blocks = 0;
};
/// Predicts a rank's bytes with `ranks` ranks; `blocks` is an upper bound. `states`: values of
/// optimizer state per parameter value.
ShardedBytes predict_bytes(const nn::Model& model, const ZeroConfig& zero, int ranks,
                           std::int64_t bucket_cap, std::int64_t states);

/// Call begin_forward() before each forward and end_update() after the optimizer's step, on all
/// ranks, also on those without samples. The first step starts with whole parameters and records
/// the order in which rank 0 uses them; all ranks gather and reduce in this order from then on.
/// Call complete_parameters() before the end, since gathers may be under way. Needs
/// Progress::thread or waiting, and an MPI library that serves several threads.
class ShardedSync final : public GradientSync {
  public:
    /// Moves the model's trained parameters into buckets. Collective.
    ShardedSync(const nn::Model& model, const SyncSetup& setup, const ZeroConfig& zero);
    ~ShardedSync() override;

    void attach(std::vector<torch::Tensor>) override {}  // the constructor attaches
    void begin_step(const std::vector<torch::Tensor>& outputs, bool sync) override;
    void finish() override;
    const std::vector<ReductionStamp>& stamps() const override { return reductions_.stamps(); }
    BucketPlan buckets() const override;

    Owned owned(const std::vector<torch::Tensor>& parameters) const override;
    void begin_forward(base::PhaseSink& phases) override;
    /// `updated`: the optimizer made its step. Starts to gather the updated parameters (stages 1
    /// and 2); in the next forward, the first operation that uses a bucket waits for its gather.
    void end_update(bool updated) override;
    void complete_parameters() override;
    void complete_gradients() override;

    /// Without the optimizer's state.
    ShardedBytes held() const;
    /// The gathers of the last step. A rank sends (ranks - 1) / ranks of the bytes of each stamp.
    const std::vector<ReductionStamp>& gather_stamps() const { return gathers_.stamps(); }
    /// Seconds that forward and backward have waited for other ranks so far.
    double gather_exposed_s() const { return exposed_s_; }

  private:
    struct Bucket {
        std::vector<std::size_t> members;
        std::int64_t elements = 0, shard_size = 0;  // shard_size x ranks >= elements
        torch::Tensor whole;                        // parameters; stage 3: empty unless resident
        torch::Tensor shard;                        // this rank's part; stages 1, 2: of `whole`
        torch::Tensor gradient;                     // of all members, before it is summed
        torch::Tensor shard_gradient;               // this rank's part of the sum
        torch::Tensor landing;                      // the sum's terms by rank; on a GPU the sum
        std::ptrdiff_t visits = 0;                  // stage 3: uses to come in this pass
        std::size_t pending = 0;                    // members that backward has not reached yet
        bool resident = true, used = false;

        std::int64_t bytes() const { return static_cast<std::int64_t>(shard.nbytes()); }
    };
    // A pass through the model: forward or backward.
    struct Pass {
        std::vector<std::size_t> uses;   // recorded: buckets in order, consecutive uses once
        std::vector<std::size_t> order;  // in which buckets are gathered
        std::vector<std::size_t> place;  // by bucket: its index in `order`, or kNone
    };
    struct Watch;
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    Bucket make_bucket(std::vector<std::size_t> members);
    void add_parts(const Bucket& bucket);
    bool on_gpu() const { return !buckets_.empty() && buckets_.front().shard.is_cuda(); }
    torch::Tensor slot_of(const torch::Tensor& whole, std::size_t parameter) const;
    void see(const torch::Tensor& tensor);
    void use(std::size_t bucket);
    void enter(std::size_t bucket);
    void start_pass(Pass& pass);
    void end_forward();
    void end_backward();
    void agree();
    void hold(Bucket& bucket);
    void release(Bucket& bucket);
    void release_all(std::size_t but = kNone);
    void start_gathers(const Pass& pass, std::size_t count);
    void await_gathers(std::size_t count);
    void on_gradient_ready(std::size_t parameter);
    void need_gradient(Bucket& bucket);
    void push_next();
    void await_reductions(std::size_t count);
    void collect();

    SyncSetup setup_;
    ZeroConfig zero_;
    int ranks_, rank_;
    std::vector<torch::Tensor> parameters_;
    std::vector<std::size_t> bucket_of_;  // by parameter
    std::vector<std::int64_t> begin_;     // by parameter: first element within its bucket
    std::vector<bool> filled_;            // by parameter: its gradient is in the bucket
    std::vector<Bucket> buckets_;
    std::vector<torch::Tensor> landings_;  // bytes that buckets use in turn; not on a GPU
    std::unordered_map<const void*, std::size_t> bucket_of_storage_;
    // The parts of parameters within this rank's shards; finish() sets their gradients. Parts of
    // matrices (or more dimensions) have two dimensions, since weight decay leaves out vectors.
    Owned owned_;
    std::vector<torch::Tensor> part_gradients_;

    Pass forward_, backward_;
    Pass* pass_ = nullptr;  // forward_ or backward_; null between steps
    std::vector<std::size_t> reduce_order_, ready_order_;
    std::size_t kept_ = kNone;  // stage 3: kept gathered: forward's last block, backward's first
    bool agreed_ = false, records_anew_ = false;
    std::size_t current_ = kNone;            // stage 3: the bucket used last
    std::size_t started_ = 0, awaited_ = 0;  // gathers of this pass, or since the last update
    std::size_t first_gather_ = 0;           // of this pass, in gathers_

    bool fresh_ = true, reduces_ = false, watched_forward_ = false;
    std::int64_t rounds_ = 0;              // backward passes that reduce, since finish()
    std::size_t next_ = 0;                 // in reduce_order_
    std::vector<std::size_t> pushed_;      // buckets, in order, since the last finish()
    std::size_t collected_ = 0;            // of pushed_
    std::atomic<std::size_t> reduced_{0};  // of pushed_

    std::exception_ptr failure_;  // within a callback, which must not throw
    double exposed_s_ = 0;
    std::int64_t live_blocks_ = 0, peak_blocks_ = 0;

    std::unique_ptr<comm::Communicator> gather_comm_;  // own: gathers and reductions interleave
    ReductionQueue gathers_, reductions_;
    std::unique_ptr<GradientHooks> hooks_;
    std::unique_ptr<Watch> watch_;
};

}  // namespace ranklab::train
