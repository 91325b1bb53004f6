#include "train/c10d_backend.hpp"

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "base/error.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

using Future = c10::ivalue::Future;

c10::intrusive_ptr<Future> future_of_tensors() {
    return c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()));
}

// Complete when its future is.
class QueuedWork final : public c10d::Work {
  public:
    QueuedWork(c10d::OpType type, c10::intrusive_ptr<Future> future)
        : Work(-1, type), future_(std::move(future)) {}

    bool isCompleted() override { return future_->completed(); }
    bool isSuccess() const override { return future_->completed() && !future_->hasError(); }
    bool wait(std::chrono::milliseconds) override {
        future_->waitAndThrow();
        return true;
    }
    c10::intrusive_ptr<Future> getFuture() override { return future_; }

  private:
    c10::intrusive_ptr<Future> future_;
};

const at::Tensor& only_one(const std::vector<at::Tensor>& tensors) {
    if (tensors.size() != 1) throw base::Error("internal: c10d gave several tensors to one collective");
    return tensors.front();
}

}  // namespace

C10dBackend::C10dBackend(comm::Communicator& comm, ReductionQueue& queue)
    : Backend(comm.rank(), comm.world_size()), comm_(comm), queue_(queue) {}

c10::intrusive_ptr<c10d::Work> C10dBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                      const c10d::AllreduceOptions& options) {
    if (options.reduceOp != c10d::ReduceOp::SUM)
        throw base::Error("internal: c10d asked for a reduction other than a sum");
    auto future = future_of_tensors();
    queue_.push(view_of(only_one(tensors)), [future, tensors](const std::exception_ptr& error) {
        if (error)
            future->setError(error);
        else
            future->markCompleted(c10::IValue(tensors));
    });
    return c10::make_intrusive<QueuedWork>(c10d::OpType::ALLREDUCE, future);
}

c10::intrusive_ptr<c10d::Work> C10dBackend::broadcast(std::vector<at::Tensor>& tensors,
                                                      const c10d::BroadcastOptions& options) {
    comm_.broadcast(view_of(only_one(tensors)), static_cast<int>(options.rootRank));
    auto future = future_of_tensors();
    future->markCompleted(c10::IValue(tensors));
    return c10::make_intrusive<QueuedWork>(c10d::OpType::BROADCAST, future);
}

c10::intrusive_ptr<c10d::ProcessGroup> make_process_group(comm::Communicator& comm, ReductionQueue& queue) {
    auto group = c10::make_intrusive<c10d::ProcessGroup>(c10::make_intrusive<c10d::HashStore>(), comm.rank(),
                                                         comm.world_size());
    group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM,
                      c10::make_intrusive<C10dBackend>(comm, queue));
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::CUSTOM);
    return group;
}

}  // namespace ranklab::train
