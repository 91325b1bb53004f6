// --profile layers: forward and backward time by layer. A layer is a module with parameters of its
// own, and what follows it until the next one: activations, pooling, the loss.
#pragma once

#include <ATen/record_function.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/phase.hpp"
#include "nn/model.hpp"

namespace ranklab::train {

/// The sums over micro-batches on this rank.
struct LayerTimes {
    std::string name;
    std::int64_t calls = 0;  ///< times that a parameter of it was used in a forward
    double forward_s = 0, backward_s = 0;
    std::int64_t forward_flops = 0;     ///< as nn::forward_flops counts, of the whole batches
    std::int64_t activation_bytes = 0;  ///< outputs of its operations
    std::int64_t parameter_bytes = 0;
    double gradient_ready_s =
        0;  ///< from the beginning of backward until its last gradient is there
};

/// Passes marks on, and attributes the time between the beginnings of forward's operations, and of
/// backward's, to layers: an operation of forward to that whose parameter it last used, one of
/// backward to the layer of the forward operation that it differentiates. So the times add up to
/// those of the phases. For one thread that computes; one profile at a time.
class LayerProfile final : public base::PhaseSink, base::Immovable {
  public:
    /// `wait`: until a GPU has done what was launched, at each operation; empty on a CPU.
    LayerProfile(const nn::Model& model, base::PhaseSink& sink, std::function<void()> wait);
    ~LayerProfile() override;

    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;

    /// Forgets what was summed.
    void restart();
    /// Micro-batches with samples so far.
    std::int64_t batches() const { return batches_; }
    /// In the order of the model's parameters: the same on all ranks, unused ones among them.
    const std::vector<LayerTimes>& layers() const { return layers_; }

  private:
    struct Hooks;  // LibTorch's callbacks
    void begin(const at::RecordFunction& function);
    void move_to(std::size_t layer);
    std::optional<std::size_t> layer_of(const at::Tensor& tensor) const;
    std::optional<std::size_t> layer_of_inputs(const at::RecordFunction& function) const;
    std::size_t layer_of_sequence(std::int64_t number) const;
    bool profiles() const {
        return phase_ == base::Phase::forward || phase_ == base::Phase::backward;
    }

    base::PhaseSink& sink_;
    std::function<void()> wait_;
    std::map<const c10::TensorImpl*, std::size_t> layer_of_;  // by parameter
    std::vector<LayerTimes> layers_;
    std::vector<std::pair<std::int64_t, std::size_t>> forward_;  // autograd's numbers from it on
    std::vector<double> ready_;                                  // of the backward under way
    base::Phase phase_ = base::Phase::data;
    std::size_t current_ = 0;
    std::optional<std::size_t> last_used_;  // in the forward under way
    int depth_ = 0;
    bool has_forward_ = false;  // the batch under way had one
    bool counts_products_ = false;
    base::Clock::time_point since_, backward_began_;
    std::int64_t batches_ = 0;
    at::CallbackHandle handle_;
};

}  // namespace ranklab::train
