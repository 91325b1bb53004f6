#include "train/step_memory.hpp"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <unordered_map>

#include "base/handle.hpp"

namespace ranklab::train {
namespace {

BatchBytes bytes_of(const at::Tensor& tensor) {
    const auto there = static_cast<std::int64_t>(tensor.storage().nbytes());
    if (there > 0) return {there, 0};
    auto bytes = static_cast<std::int64_t>(tensor.element_size());
    for (const std::int64_t size : tensor.sizes()) bytes *= std::max<std::int64_t>(1, size);
    return {0, bytes};
}

// The storages that this thread's operations return while one lives.
class Recorder : base::Pinned {
  public:
    explicit Recorder(std::int64_t samples);
    ~Recorder();

    // Whether it is new. Its bytes are those of the largest view; the model's own stay at 0. A weak
    // reference keeps its address from being used for another one.
    bool add(const at::Tensor& tensor, const BatchBytes& bytes) {
        const auto& storage = tensor.storage();
        const auto [entry, is_new] = storages_.try_emplace(storage.unsafeGetStorageImpl(),
                                                           storage.getWeakStorageImpl(), bytes);
        auto& seen = entry->second.second;
        if (seen.at(1) > 0)
            seen = {std::max(seen.fixed, bytes.fixed), std::max(seen.per_sample, bytes.per_sample)};
        return is_new;
    }
    // Those alive.
    BatchBytes look() {
        std::erase_if(storages_, [](const auto& entry) { return entry.second.first.expired(); });
        BatchBytes alive;
        for (const auto& [key, storage] : storages_) {
            alive.fixed += storage.second.fixed;
            alive.per_sample += storage.second.per_sample;
        }
        if (alive.at(samples_) > peak_.at(samples_)) peak_ = alive;
        return alive;
    }
    BatchBytes peak() const { return peak_; }

  private:
    std::int64_t samples_;
    std::unordered_map<const void*,
                       std::pair<c10::weak_intrusive_ptr<c10::StorageImpl>, BatchBytes>>
        storages_;
    BatchBytes peak_;
    at::CallbackHandle handle_;
};

thread_local Recorder* recording = nullptr;  // LibTorch's callbacks are plain functions

void note_outputs(const at::RecordFunction& function, at::ObserverContext*) {
    for (const auto& output : function.outputs()) {
        if (!output.isTensor() || !output.toTensor().defined()) continue;
        const auto& tensor = output.toTensor();
        if (tensor.has_storage() && recording->add(tensor, bytes_of(tensor))) recording->look();
    }
}

Recorder::Recorder(std::int64_t samples)
    : samples_(samples),
      handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(nullptr, note_outputs)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}))) {
    recording = this;
}
Recorder::~Recorder() {
    at::removeCallback(handle_);
}

}  // namespace

StepMemory step_memory(nn::Model& model, const TensorBatch& batch, std::int64_t samples) {
    model.train();
    const auto input = batch.input.detach().requires_grad_();
    Recorder recorder(samples);
    for (const auto& tensors : {model.parameters(), model.buffers()})
        for (const auto& tensor : tensors) recorder.add(tensor, {});
    for (const auto& tensor : {input, batch.targets}) recorder.add(tensor, bytes_of(tensor));
    const auto loss = model.loss(model.forward(input), batch.targets);
    const auto saved = recorder.look();
    // Down to the input: gradients of parameters would be as large as with samples.
    torch::autograd::grad({loss}, {input});
    return {saved, recorder.peak()};
}

}  // namespace ranklab::train
