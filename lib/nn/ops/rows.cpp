// Operations of language models, row by row: each of them reads and writes memory once in forward
// and once in backward.
#include <ATen/Parallel.h>
#include <ATen/TracerMode.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "nn/ops/rows.hpp"

// Compiles a function for the vectors of several processors; the loader picks. A sanitizer would
// have to run before that.
#if defined(__x86_64__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RANKLAB_VECTORS \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RANKLAB_VECTORS
#endif

namespace ranklab::nn {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kRows = 32;  // of a part of the work; fixed, so that threads change no bits

// e^x = 2^n e^r with |r| <= ln 2 / 2, by the series of e^r, within few units of the last place,
// for x between the limits below. The compiler vectorises it, unlike std::exp.
template <class T>
[[gnu::always_inline]] inline T exponential(T x) {
    constexpr bool kWide = sizeof(T) == 8;
    using Bits = std::conditional_t<kWide, std::uint64_t, std::uint32_t>;
    constexpr int kMantissa = kWide ? 52 : 23, kTerms = kWide ? 13 : 7;
    constexpr T kMost = kWide ? 708 : 87;
    constexpr T kToInteger = static_cast<T>(Bits{3} << (kMantissa - 1));
    constexpr T kLn2 = kWide ? T(0x1.62e42fee00000p-1) : T(0x1.62e400p-1);
    constexpr T kLn2Rest = kWide ? T(0x1.a39ef35793c76p-33) : T(0x1.7f7d1cp-20);
    x = x < -kMost ? -kMost : x > kMost ? kMost : x;  // NaN stays
    const T shifted = x * T(0x1.71547652b82fep+0) + kToInteger;
    const T n = shifted - kToInteger;
    const T r = (x - n * kLn2) - n * kLn2Rest;
    T e = 1;
#pragma GCC unroll 13
    for (int k = kTerms; k > 0; --k) e = 1 + e * (r * (T(1) / static_cast<T>(k)));
    return e * std::bit_cast<T>((std::bit_cast<Bits>(shifted) << kMantissa) +
                                std::bit_cast<Bits>(T(1)));
}

template <class T>
RANKLAB_VECTORS void norm_row(const T* __restrict x, const T* __restrict weight, T* __restrict out,
                              T* __restrict factor, std::int64_t width, T eps) {
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
    const T by = *factor = 1 / std::sqrt(squares / static_cast<T>(width) + eps);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) out[i] = x[i] * by * weight[i];
}

template <class T>
RANKLAB_VECTORS void norm_row_backward(const T* __restrict x, const T* __restrict weight, T by,
                                       const T* __restrict gradient, T* __restrict of_x,
                                       T* __restrict of_weight, std::int64_t width) {
    T product = 0;
#pragma omp simd reduction(+ : product)
    for (std::int64_t i = 0; i < width; ++i) product += gradient[i] * weight[i] * x[i];
    const T along = product * by * by * by / static_cast<T>(width);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        of_x[i] = gradient[i] * weight[i] * by - x[i] * along;
        of_weight[i] += gradient[i] * x[i] * by;
    }
}

template <class T>
RANKLAB_VECTORS void gate_row(const T* __restrict x, const T* __restrict y, T* __restrict out,
                              std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) out[i] = x[i] / (1 + exponential(-x[i])) * y[i];
}

template <class T>
RANKLAB_VECTORS void gate_row_backward(const T* __restrict x, const T* __restrict y,
                                       const T* __restrict gradient, T* __restrict of_x,
                                       T* __restrict of_y, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        const T sigmoid = 1 / (1 + exponential(-x[i]));
        of_x[i] = gradient[i] * y[i] * sigmoid * (1 + x[i] * (1 - sigmoid));
        of_y[i] = gradient[i] * x[i] * sigmoid;
    }
}

// Returns the cross-entropy of the scores `x` with the class `target`, and its gradient by them,
// times `by`, in `out`.
template <class T>
RANKLAB_VECTORS T entropy_of_row(const T* __restrict x, std::int64_t target, T by,
                                 T* __restrict out, std::int64_t width) {
    T most = x[0], sum = 0;
#pragma omp simd reduction(max : most)
    for (std::int64_t i = 0; i < width; ++i) most = x[i] > most ? x[i] : most;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < width; ++i) sum += out[i] = exponential(x[i] - most);
    const T scale = by / sum;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) out[i] *= scale;
    out[target] -= by;
    return std::log(sum) + most - x[target];
}

// Calls work(T, row, part) for every row of `x`, in parallel over parts of kRows rows.
template <class Work>
void for_each_row(const Tensor& x, Work work) {
    const std::int64_t rows = x.numel() / x.size(-1), parts = (rows + kRows - 1) / kRows;
    const auto all = [&](auto type) {
        at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin * kRows; row < std::min(rows, end * kRows); ++row)
                work(type, row, row / kRows);
        });
    };
    x.scalar_type() == torch::kDouble ? all(double{}) : all(float{});
}

template <class T>
T* row_of(const Tensor& x, std::int64_t row) {
    return x.mutable_data_ptr<T>() + row * x.size(-1);
}

struct RmsNormRows : torch::autograd::Function<RmsNormRows> {
    static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                          double eps) {
        auto out = torch::empty_like(x);
        auto factors = torch::empty({x.numel() / x.size(-1), 1}, x.options());
        for_each_row(x, [&]<class T>(T, std::int64_t row, std::int64_t) {
            norm_row<T>(row_of<T>(x, row), row_of<T>(weight, 0), row_of<T>(out, row),
                        row_of<T>(factors, row), x.size(-1), static_cast<T>(eps));
        });
        context->save_for_backward({x, weight, factors});
        return out;
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &x = saved[0], &weight = saved[1], &factors = saved[2];
        const auto gradient = gradients.front().contiguous();
        RECORD_FUNCTION("ranklab::rms_norm_backward",
                        (std::vector<c10::IValue>{gradient, x, weight}));
        auto of_x = torch::empty_like(x);
        auto of_weight =
            torch::zeros({(factors.numel() + kRows - 1) / kRows, x.size(-1)}, x.options());
        for_each_row(x, [&]<class T>(T, std::int64_t row, std::int64_t part) {
            norm_row_backward<T>(row_of<T>(x, row), row_of<T>(weight, 0), *row_of<T>(factors, row),
                                 row_of<T>(gradient, row), row_of<T>(of_x, row),
                                 row_of<T>(of_weight, part), x.size(-1));
        });
        return {of_x, of_weight.sum(0), Tensor()};
    }
};

struct SwigluRows : torch::autograd::Function<SwigluRows> {
    static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& y) {
        auto out = torch::empty_like(x);
        for_each_row(x, [&]<class T>(T, std::int64_t row, std::int64_t) {
            gate_row<T>(row_of<T>(x, row), row_of<T>(y, row), row_of<T>(out, row), x.size(-1));
        });
        context->save_for_backward({x, y});
        return out;
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &x = saved[0], &y = saved[1];
        const auto gradient = gradients.front().contiguous();
        auto of_x = torch::empty_like(x), of_y = torch::empty_like(y);
        for_each_row(x, [&]<class T>(T, std::int64_t row, std::int64_t) {
            gate_row_backward<T>(row_of<T>(x, row), row_of<T>(y, row), row_of<T>(gradient, row),
                                 row_of<T>(of_x, row), row_of<T>(of_y, row), x.size(-1));
        });
        return {of_x, of_y};
    }
};

struct CrossEntropyRows : torch::autograd::Function<CrossEntropyRows> {
    static Tensor forward(AutogradContext* context, const Tensor& scores, const Tensor& targets) {
        auto nats = torch::empty_like(targets, scores.options()),
             of_scores = torch::empty_like(scores);
        const auto* const target = targets.const_data_ptr<std::int64_t>();
        for_each_row(scores, [&]<class T>(T, std::int64_t row, std::int64_t) {
            nats.mutable_data_ptr<T>()[row] = entropy_of_row<T>(
                row_of<T>(scores, row), target[row], T(1) / static_cast<T>(targets.numel()),
                row_of<T>(of_scores, row), scores.size(-1));
        });
        context->save_for_backward({of_scores});
        return nats.mean();
    }
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto of_scores = context->get_saved_variables().front();
        const bool is_one = gradients.front().item<double>() == 1;
        return {is_one ? of_scores : of_scores * gradients.front(), Tensor()};
    }
};

bool fits(Ops ops, const Tensor& x, const Tensor& other) {
    const auto type = x.scalar_type();
    // A trace cannot record our kernels.
    return ops == Ops::ranklab && !at::tracer::impl::is_dispatch_enabled() && x.is_cpu() &&
           (type == torch::kFloat || type == torch::kDouble) && x.is_contiguous() &&
           other.is_contiguous() && x.size(-1) > 0;
}

}  // namespace

// Tells callbacks that a kernel of ours reads a parameter, in backward, too, as LibTorch's
// operations do: a sharded block is gathered for it.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps, Ops ops) {
    if (!fits(ops, x, weight) || weight.scalar_type() != x.scalar_type())
        return at::rms_norm(x, weight.sizes(), weight, eps);
    RECORD_FUNCTION("ranklab::rms_norm", (std::vector<c10::IValue>{x, weight}));
    auto out = RmsNormRows::apply(x, weight, eps);
    if (guard.needsOutputs()) guard.setOutputs(std::vector<c10::IValue>{out});
    return out;
}

Tensor swiglu(const Tensor& x, const Tensor& y, Ops ops) {
    if (fits(ops, x, y) && y.scalar_type() == x.scalar_type()) return SwigluRows::apply(x, y);
    return torch::silu(x) * y;
}

Tensor cross_entropy(const Tensor& scores, const Tensor& targets, Ops ops) {
    return fits(ops, scores, targets) ? CrossEntropyRows::apply(scores, targets)
                                      : torch::nn::functional::cross_entropy(scores, targets);
}

}  // namespace ranklab::nn
