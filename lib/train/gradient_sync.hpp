// Strategies that sum the ranks' gradients. Each is one file in sync/, one word in CMakeLists.txt.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "train/bucket_plan.hpp"
#include "train/reduction_queue.hpp"

namespace ranklab::train {

class GradientSync {
  public:
    virtual ~GradientSync() = default;

    /// To be called before the first step, with parameters that require gradients, each once, in
    /// the same order on all ranks. The tensors share storage with the model's.
    virtual void attach(std::vector<torch::Tensor> parameters) = 0;
    /// To be called between forward and backward, which starts from `outputs` (empty on a rank
    /// without samples). sync = false: this backward only adds to the gradients. The first backward
    /// after attach() or finish() starts from zero.
    virtual void begin_step(const std::vector<torch::Tensor>& outputs, bool sync) = 0;
    /// To be called after the backward with sync = true: sums each gradient over ranks and over the
    /// backwards since the last finish(). Losses must be weighted by share of the global batch.
    virtual void finish() = 0;
    /// The reductions of the last finished step, in order.
    virtual const std::vector<ReductionStamp>& stamps() const = 0;
    /// The buckets in use, as indices into attach()'s list; may be empty before the first step.
    virtual BucketPlan buckets() const = 0;
};

enum class Compression { none, fp16, bf16 };

/// What a strategy works with. The communicators must outlive the strategy.
struct SyncSetup {
    comm::Communicator& data;     ///< carries the gradients
    comm::Communicator& control;  ///< lets the ranks agree on buckets, in host memory
    std::int64_t first_cap_bytes = kFirstBucketBytes;
    std::int64_t cap_bytes = kBucketCapBytes;
    Progress progress = Progress::thread;
    Transfer transfer = Transfer::background;
    Compression compression = Compression::none;
};

struct SyncEntry {
    std::string name, summary;
    bool keeps_ranks_equal = true;   ///< false: ranks drift apart, and parameters are not compared
    bool overlaps = false;           ///< reduces during backward, through a ReductionQueue
    bool sums_at_once = false;       ///< sums all gradients in one reduction
    bool caps_buckets = false;       ///< uses SyncSetup::cap_bytes
    bool waits_in_backward = false;  ///< waits for other ranks before backward returns
    bool host_memory = false;        ///< reduces gradients in host memory only
    bool compresses = false, copies = false;  ///< copies: buckets and gradients are separate memory
    std::function<std::unique_ptr<GradientSync>(const SyncSetup& setup)> make;
};

/// Generated: all strategies, in CMake's order.
std::vector<SyncEntry> gradient_syncs();

/// Calls back when backward has accumulated a parameter's gradient.
class GradientHooks : base::Immovable {
  public:
    /// Backward's thread calls `ready(i)` once parameter i's gradient is accumulated (a hook on the
    /// tensor itself would fire before that). The destructor removes the hooks.
    GradientHooks(const std::vector<torch::Tensor>& parameters,
                  std::function<void(std::size_t)> ready);
    ~GradientHooks();

  private:
    struct Hooked;
    std::vector<Hooked> hooked_;
    std::function<void(std::size_t)> ready_;
};

/// Makes a blocking allreduce in place and appends its stamp, without `moving` and `end` on a GPU.
void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor,
                std::vector<ReductionStamp>& stamps);

/// Makes all gradients undefined, so that the next backward moves its result in without adding.
void drop_gradients(const std::vector<torch::Tensor>& parameters);
/// Sets undefined gradients (unused parameter, empty batch) to zero, since every rank reduces all.
void define_gradients(const std::vector<torch::Tensor>& parameters);

}  // namespace ranklab::train
