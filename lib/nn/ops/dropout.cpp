#include "nn/ops/ops.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TracerMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <cmath>
#include <span>

namespace ranklab::nn {
namespace {

// mt19937 (M. Matsumoto, T. Nishimura, ACM TOMACS 8 (1998) 3) on torch's state, in blocks: the
// compiler vectorises the loops.
class BlockTwister {
  public:
    static constexpr std::size_t kWords = at::MERSENNE_STATE_N;

    explicit BlockTwister(const at::mt19937_data_pod& state) : state_(state) {}
    const at::mt19937_data_pod& state() const { return state_; }

    // Returns the next words, tempered: at least one, at most `most`, valid until the next call.
    std::span<const std::uint32_t> next(std::size_t most) {
        if (state_.left_ == 1) twist();
        const auto begin = static_cast<std::size_t>(state_.next_);
        const std::size_t count = std::min(most, static_cast<std::size_t>(state_.left_ - 1));
        for (std::size_t i = 0; i < count; ++i) words_[i] = temper(state_.state_[begin + i]);
        state_.next_ += static_cast<std::uint32_t>(count);
        state_.left_ -= static_cast<int>(count);
        return {words_.data(), count};
    }

  private:
    static std::uint32_t temper(std::uint32_t y) {
        y ^= y >> 11U;
        y ^= (y << 7U) & 0x9d2c5680U;
        y ^= (y << 15U) & 0xefc60000U;
        return y ^ (y >> 18U);
    }
    static std::uint32_t mix(std::uint32_t u, std::uint32_t v) {
        return (((u & 0x80000000U) | (v & 0x7fffffffU)) >> 1U) ^ ((v & 1U) != 0 ? 0x9908b0dfU : 0U);
    }
    // Torch's counter left_ is the number of words left plus 1: at 1 the next draw twists and sets
    // left_ to 625.
    void twist() {
        constexpr std::size_t kShift = at::MERSENNE_STATE_M;
        auto& s = state_.state_;
        for (std::size_t k = 0; k < kWords - kShift; ++k)
            s[k] = s[k + kShift] ^ mix(s[k], s[k + 1]);
        for (std::size_t k = kWords - kShift; k < kWords - 1; ++k)
            s[k] = s[k + kShift - kWords] ^ mix(s[k], s[k + 1]);
        s[kWords - 1] = s[kShift - 1] ^ mix(s[kWords - 1], s[0]);
        state_.left_ = static_cast<int>(kWords) + 1;
        state_.next_ = 0;
    }

    at::mt19937_data_pod state_;
    std::array<std::uint32_t, kWords> words_{};
};

// Sets factors[i] to 1/keep if torch's Bernoulli number is 1, otherwise to 0. The Bernoulli number
// is 1 if u < keep; u in [0, 1) has 53 bits, taken from two words.
template <class T>
void draw_factors(std::span<T> factors, double keep, BlockTwister& random) {
    const auto limit = static_cast<std::uint64_t>(std::ceil(std::ldexp(keep, 53)));
    const T scale = T(1) / static_cast<T>(keep);
    const auto factor = [&](std::uint32_t high, std::uint32_t low) {
        return (std::uint64_t{high & 0x1FFFFFU} << 32U | low) < limit ? scale : T(0);
    };
    std::size_t i = 0;
    std::uint32_t waiting = 0;  // first word of a pair whose second is in the next block
    bool has_waiting = false;
    while (i < factors.size()) {
        auto words = random.next(2 * (factors.size() - i) - (has_waiting ? 1 : 0));
        if (has_waiting) {
            factors[i++] = factor(waiting, words.front());
            words = words.subspan(1);
        }
        const std::size_t pairs = words.size() / 2;
        for (std::size_t k = 0; k < pairs; ++k)
            factors[i + k] = factor(words[2 * k], words[2 * k + 1]);
        i += pairs;
        has_waiting = words.size() % 2 != 0;
        if (has_waiting) waiting = words.back();
    }
}

template <class T>
void drop(const torch::Tensor& x, torch::Tensor& factors, torch::Tensor& out, double p) {
    const std::span<T> factor(factors.mutable_data_ptr<T>(), static_cast<std::size_t>(x.numel()));
    {
        auto* generator = at::get_generator_or_default<at::CPUGeneratorImpl>(
            scoped_generator(), at::detail::getDefaultCPUGenerator());
        const std::lock_guard<std::mutex> lock(generator->mutex_);
        at::mt19937 engine = generator->engine();
        BlockTwister random(engine.data());
        draw_factors(factor, 1 - p, random);
        engine.set_data(random.state());
        generator->set_engine(engine);
    }
    const T* from = x.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    at::parallel_for(0, x.numel(), 1 << 14, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            to[i] = from[i] * factor[static_cast<std::size_t>(i)];
    });
}

class FastDropout : public torch::autograd::Function<FastDropout> {
  public:
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                                 double p) {
        torch::Tensor factors = torch::empty_like(x);
        torch::Tensor out = torch::empty_like(x);
        x.scalar_type() == torch::kDouble ? drop<double>(x, factors, out, p)
                                          : drop<float>(x, factors, out, p);
        context->save_for_backward({factors});
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        return {gradients.front() * context->get_saved_variables().front(), torch::Tensor()};
    }
};

// torch::dropout with a generator, by the three operations that it is made of.
torch::Tensor dropout_from(const at::Generator& generator, const torch::Tensor& x, double p) {
    return x * torch::empty_like(x).bernoulli_(1 - p, generator).div_(1 - p);
}

}  // namespace

torch::Tensor fast_dropout(const torch::Tensor& x, double p, bool train, Ops ops) {
    if (!train || p == 0.0) return x;
    const bool type = x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble;
    // A trace cannot record our kernel.
    const bool traced = at::tracer::impl::is_dispatch_enabled();
    const bool ours = ops == Ops::ranklab && !traced;
    // For p = 0 and 1 torch draws no random numbers; for p outside [0, 1] it throws.
    const bool draws = p > 0 && p < 1;
    const bool fits = ours && draws && x.is_cpu() && type && x.is_contiguous();
    if (fits) return FastDropout::apply(x, p);
    // For an empty x torch returns x itself. Here an empty x gets factors like any x, since
    // experiments/training/memory.cpp computes an empty batch to find what backward keeps.
    const bool other_numbers = scoped_generator().defined() || x.numel() == 0;
    if (other_numbers && x.is_cpu() && draws) return dropout_from(scoped_generator(), x, p);
    return torch::dropout(x, p, train);
}

}  // namespace ranklab::nn
