#include <numeric>

#include "base/error.hpp"
#include "train/blocking_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// Makes one blocking allreduce of all gradients, which are views of one buffer: nothing is copied
// in or out.
class FlatSync final : public BlockingSync {
  public:
    explicit FlatSync(comm::Communicator& comm) : comm_(comm) {}

    void attach(std::vector<torch::Tensor> parameters) override {
        BlockingSync::attach(std::move(parameters));
        std::int64_t total = 0;
        for (const auto& parameter : parameters_) {
            if (parameter.scalar_type() != parameters_.front().scalar_type()) {
                throw base::OptionError(
                    "the sync flat needs parameters of one type; use another sync for this model",
                    {"sync bucketed"});
            }
            total += parameter.numel();
        }
        buffer_ = torch::zeros({total}, parameters_.empty()
                                            ? torch::TensorOptions()
                                            : parameters_.front().options().requires_grad(false));
        std::int64_t begin = 0;
        for (const auto& parameter : parameters_) {
            parameter.mutable_grad() =
                viewed_as(buffer_.narrow(0, begin, parameter.numel()), parameter);
            begin += parameter.numel();
        }
    }
    BucketPlan buckets() const override {
        if (parameters_.empty()) return {};
        std::vector<std::size_t> all(parameters_.size());
        std::iota(all.begin(), all.end(), 0);
        return {all};
    }

  private:
    void clear() override { buffer_.zero_(); }
    void reduce() override { reduce_now(comm_, buffer_); }

    comm::Communicator& comm_;
    torch::Tensor buffer_;
};

}  // namespace

SyncEntry flat_entry() {
    return {.name = "flat",
            .summary = "one blocking allreduce of all gradients after backward (the reference)",
            .sums_at_once = true,
            .make = [](const SyncSetup& setup) -> std::unique_ptr<GradientSync> {
                return std::make_unique<FlatSync>(setup.data);
            }};
}

}  // namespace ranklab::train
