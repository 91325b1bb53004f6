#include "train/graph_trainer.hpp"

namespace ranklab::train {

using base::Phase;

torch::Tensor GraphTrainer::accumulate(const TensorBatch& batch, double weight, bool last) {
    if (batch_size_ == 0) batch_size_ = batch.count();
    const bool replays =
        batch.count() == batch_size_ && batch_size_ > 0 && steps_ >= kStepsBeforeCapture;
    if (!replays) return Trainer::accumulate(batch, weight, last);
    broadcast_buffers(last);
    const auto mark = phases_.phase(Phase::backward);
    if (!graph_) capture(batch);
    // Hooks do not fire in a replay, so finish() reduces all gradients.
    sync_.begin_step({}, last);
    const torch::NoGradGuard no_gradients;
    restore_gradients();
    input_.input.copy_(batch.input, /*non_blocking=*/true);
    input_.targets.copy_(batch.targets, /*non_blocking=*/true);
    factor_.fill_(scaler_ != nullptr ? weight * scaler_->scale() : weight);
    graph_->replay();
    return loss_.clone();  // the next replay overwrites it
}

bool GraphTrainer::update() {
    ++steps_;
    return Trainer::update();
}

std::vector<Phase> GraphTrainer::phases() const {
    return {Phase::backward, Phase::sync, Phase::optimizer};
}

// Restores gradients that the sync has dropped, as zeros in the memory that the graph writes.
void GraphTrainer::restore_gradients() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (parameters_[i].grad().defined()) continue;
        gradients_[i].zero_();
        parameters_[i].mutable_grad() = gradients_[i];
    }
}

// Hooks fire during the capture, too: sync = false keeps them from starting reductions.
void GraphTrainer::capture(const TensorBatch& batch) {
    sync_.begin_step({}, false);
    define_gradients(parameters_);
    input_ = {batch.input.clone(), batch.targets.clone()};
    factor_ = torch::ones({}, batch.input.options());
    for (const auto& parameter : parameters_) gradients_.push_back(parameter.grad());
    graph_ = make_graph_();
    graph_->capture([this] { compute(); });
}

void GraphTrainer::compute() {
    const torch::Tensor loss = model_.loss(model_.forward(input_.input), input_.targets);
    (loss * factor_).backward();
    loss_ = loss.detach();
}

}  // namespace ranklab::train
