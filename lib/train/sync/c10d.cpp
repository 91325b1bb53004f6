#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "base/error.hpp"
#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

using ProcessGroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;
using Future = c10::ivalue::Future;

c10::intrusive_ptr<Future> future_of_tensors() {
    return c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()));
}

// The process group of c10d::Reducer: asynchronous sums through `queue`, and broadcasts, of one
// tensor each.
class C10dBackend final : public c10d::Backend {
  public:
    C10dBackend(comm::Communicator& comm, ReductionQueue& queue)
        : Backend(comm.rank(), comm.world_size()), comm_(comm), queue_(queue) {}

    const std::string getBackendName() const override { return "ranklab"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const c10d::AllreduceOptions&) override {
        auto future = future_of_tensors();
        queue_.push(view_of(tensors.front()), [future, tensors](const std::exception_ptr& error) {
            if (error)
                future->setError(error);
            else
                future->markCompleted(c10::IValue(tensors));
        });
        return c10d::Work::create_from_future(future);
    }
    c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                             const c10d::BroadcastOptions& options) override {
        comm_.broadcast(view_of(tensors.front()), static_cast<int>(options.rootRank));
        auto future = future_of_tensors();
        future->markCompleted(c10::IValue(tensors));
        return c10d::Work::create_from_future(future);
    }

  private:
    comm::Communicator& comm_;
    ReductionQueue& queue_;
};

// Makes a process group over `comm` for tensors in host memory. Both arguments must outlive it.
ProcessGroupPtr make_process_group(comm::Communicator& comm, ReductionQueue& queue) {
    auto group = c10::make_intrusive<c10d::ProcessGroup>(c10::make_intrusive<c10d::HashStore>(),
                                                         comm.rank(), comm.world_size());
    group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM,
                      c10::make_intrusive<C10dBackend>(comm, queue));
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::CUSTOM);
    return group;
}

// Sums a bucket. Without a hook the reducer divides by the number of ranks, but here each rank's
// loss is weighted before backward.
class SumHook final : public c10d::CppCommHookInterface<ProcessGroupPtr> {
  public:
    SumHook(ProcessGroupPtr group, ReductionQueue& queue)
        : CppCommHookInterface(std::move(group)), queue_(queue) {}
    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
        std::vector<at::Tensor> tensors{bucket.getBufferRef()};
        auto future = state_->allreduce(tensors)->getFuture();
        if (bucket.isLast()) queue_.hurry();
        return future;
    }

  private:
    ReductionQueue& queue_;
};

// Uses PyTorch's own reducer, from the LibTorch we link, over our communicator, as a reference in
// the same program.
class C10dSync final : public GradientSync {
  public:
    explicit C10dSync(const SyncSetup& setup)
        : setup_(setup), queue_(setup.data, Progress::thread, setup.transfer) {}

    void attach(std::vector<torch::Tensor> parameters) override {
        parameters_ = std::move(parameters);
        if (parameters_.empty()) return;
        const auto group = make_process_group(setup_.data, queue_);
        const std::vector<bool> sparse(parameters_.size(), false);
        // Fills buckets from the first parameter on and reduces the last bucket first, as DDP does.
        const auto first = static_cast<std::size_t>(setup_.first_cap_bytes);
        const auto cap = static_cast<std::size_t>(setup_.cap_bytes);
        auto plan =
            std::get<0>(c10d::compute_bucket_assignment_by_size(parameters_, {first, cap}, sparse));
        std::reverse(plan.begin(), plan.end());
        reducer_ = std::make_unique<c10d::Reducer>(
            parameters_, plan, group, sparse, setup_.cap_bytes, /*find_unused_parameters=*/false,
            /*gradient_as_bucket_view=*/false, std::unordered_map<std::size_t, std::string>(),
            setup_.first_cap_bytes, /*skip_all_reduce_unused_params=*/false,
            /*use_python_reducer=*/false, std::vector<std::int64_t>());
        reducer_->register_comm_hook(std::make_unique<SumHook>(group, queue_));
        hooks_ = std::make_unique<GradientHooks>(parameters_,
                                                 [this](std::size_t i) { reached_[i] = true; });
    }

    void begin_step(const std::vector<torch::Tensor>& outputs, bool sync) override {
        if (fresh_) drop_gradients(parameters_);
        fresh_ = false;
        reached_.assign(parameters_.size(), false);
        if (!sync || !reducer_) return;
        queue_.begin_step();
        reducer_->rebuild_buckets();
        reducer_->prepare_for_backward(outputs);
    }

    void finish() override {
        reach_the_rest();
        queue_.finish();
        fresh_ = true;
    }

    const std::vector<ReductionStamp>& stamps() const override { return queue_.stamps(); }
    BucketPlan buckets() const override {
        BucketPlan plan;
        if (!reducer_) return plan;
        for (const auto& bucket : reducer_->get_grad_buckets()) {
            plan.emplace_back();
            for (const auto& parameter : bucket.getParameters())
                plan.back().push_back(index_of(parameter));
        }
        return plan;
    }

  private:
    // The reducer waits for every parameter. A parameter that this rank's backward did not reach
    // (unused, or no samples) gets a backward of its own, from a gradient of zeros: cheaper than a
    // search through the graph each step.
    void reach_the_rest() {
        std::vector<torch::Tensor> roots;
        std::vector<torch::Tensor> zeros;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            if (reached_[i]) continue;
            roots.push_back(parameters_[i].view_as(parameters_[i]));
            zeros.push_back(torch::zeros_like(parameters_[i]));
        }
        if (!roots.empty()) torch::autograd::backward(roots, zeros);
    }
    std::size_t index_of(const torch::Tensor& parameter) const {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            if (parameters_[i].is_same(parameter)) return i;
        }
        throw base::Error("internal: c10d reduces a parameter that it was not given");
    }

    SyncSetup setup_;
    std::vector<torch::Tensor> parameters_;
    std::vector<bool> reached_;
    bool fresh_ = true;
    ReductionQueue queue_;  // outlives the reducer, which holds the queue's futures
    std::unique_ptr<c10d::Reducer> reducer_;
    std::unique_ptr<GradientHooks> hooks_;
};

}  // namespace

SyncEntry c10d_entry() {
    return {.name = "c10d",
            .summary = "PyTorch's c10d::Reducer over ranklab's communicator, for comparison",
            .overlaps = true,
            .caps_buckets = true,
            .waits_in_backward = true,
            .host_memory = true,
            .copies = true,
            .make = [](const SyncSetup& setup) -> std::unique_ptr<GradientSync> {
                return std::make_unique<C10dSync>(setup);
            }};
}

}  // namespace ranklab::train
