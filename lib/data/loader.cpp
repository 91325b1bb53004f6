#include "data/loader.hpp"

#include <cstdlib>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace ranklab::data {

class Loader::State {
  public:
    State(const Source& source, const Config& config) : source_(source), config_(config) {}

    void start(Plan plan, std::int64_t first, std::int64_t count) {
        plan_ = std::move(plan);
        next_ = first;
        end_ = first + count;
    }

    const Batch& next() {
        if (next_ >= end_) throw base::Error("the loader was asked for more batches than were planned");
        const auto draws = plan_(next_++);
        reserve();
        batch_.count = static_cast<std::int64_t>(draws.size());
        batch_.times = {};
        const auto input = source_.layout().input.bytes();
        const auto target = source_.layout().target.bytes();
        for (std::size_t i = 0; i < draws.size(); ++i)
            source_.read(draws[i], batch_.input.get() + i * input, batch_.target.get() + i * target,
                         batch_.times);
        return batch_;
    }

  private:
    void reserve() {
        if (batch_.input) return;
        const auto samples = static_cast<std::size_t>(config_.batch);
        batch_.input = allocate(samples * source_.layout().input.bytes());
        batch_.target = allocate(samples * source_.layout().target.bytes());
    }
    std::shared_ptr<std::byte> allocate(std::size_t bytes) const {
        if (config_.allocate) return config_.allocate(bytes);
        constexpr std::size_t kAlignment = 64;
        auto* const memory =
            static_cast<std::byte*>(::operator new(bytes + kAlignment, std::align_val_t(kAlignment)));
        return {memory, [](std::byte* p) { ::operator delete(p, std::align_val_t(kAlignment)); }};
    }

    const Source& source_;
    Config config_;
    Plan plan_;
    std::int64_t next_ = 0;
    std::int64_t end_ = 0;
    Batch batch_;
};

Loader::Loader(const Source& source, const Config& config)
    : state_(std::make_unique<State>(source, config)) {}
Loader::~Loader() = default;

void Loader::start(Plan plan, std::int64_t first, std::int64_t count) {
    state_->start(std::move(plan), first, count);
}

const Batch& Loader::next() {
    return state_->next();
}

}  // namespace ranklab::data
