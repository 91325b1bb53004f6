// --profile layers: forward and backward time by layer. A layer is a module with its own parameters
// and the operations after it until the next layer, or attention (scaled_dot_product_attention).
#pragma once

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
#include "nn/outline.hpp"

namespace ranklab::train {

/// Sums over micro-batches on this rank.
struct LayerTimes {
    std::string name;
    std::int64_t calls = 0;  ///< how often forwards enter the layer
    double forward_s = 0, backward_s = 0;
    std::int64_t forward_flops = 0;     ///< of all samples, counted as by nn::forward_flops
    std::int64_t activation_bytes = 0;  ///< size of the outputs of the layer's operations
    std::int64_t parameter_bytes = 0;
    double gradient_ready_s = 0;  ///< from backward's start to the layer's last gradient
};

/// Forwards phases to `sink`, and attributes the time between the starts of consecutive operations
/// to layers, so that layer times add up to phase times. A forward operation belongs to the layer
/// or the attention used last, a backward operation to the layer of the forward operation that it
/// differentiates. Profiles the constructing thread; only one profile may exist at a time.
class LayerProfile final : public base::PhaseSink, base::Immovable {
  public:
    /// `wait` is called at each operation and synchronises the GPU; empty on a CPU.
    LayerProfile(const nn::Model& model, base::PhaseSink& sink, std::function<void()> wait);
    ~LayerProfile() override;

    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;

    /// Resets the sums.
    void restart();
    /// Non-empty micro-batches so far.
    std::int64_t batches() const { return batches_; }
    /// In the parameters' order, used or not, each before its attention; the same on all ranks.
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
    // The forward's layers in order: the first autograd sequence number of each, and the layer.
    std::vector<std::pair<std::int64_t, std::size_t>> forward_;
    std::vector<double> ready_;  // gradient_ready_s of the current backward
    base::Phase phase_ = base::Phase::data;
    std::size_t current_ = 0;
    std::optional<std::size_t> last_used_;  // in the current forward
    int depth_ = 0;
    bool has_forward_ = false;  // the current batch had a forward
    bool counts_products_ = false;
    base::Clock::time_point since_, backward_began_;
    std::int64_t batches_ = 0;
    nn::OperationCallbacks callbacks_;
};

}  // namespace ranklab::train
