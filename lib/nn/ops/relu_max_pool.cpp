#include "nn/ops/ops.hpp"

#include <ATen/Parallel.h>
#include <ATen/TracerMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace ranklab::nn {
namespace {

// The index of a maximum in its window, 0..3: an integer as wide as the value, so that the compiler
// vectorises operations on both.
template <class T>
using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
constexpr int kNoGradient = 4;

template <class T>
constexpr torch::Dtype kPlaceType = sizeof(T) == 8 ? torch::kLong : torch::kInt;

// Pools one row of windows. Selects by comparisons instead of branches, so that the compiler
// vectorises the loop.
template <class T>
void pool_row(const T* __restrict top, const T* __restrict bottom, T* __restrict out,
              Place<T>* __restrict place, std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) {
        const T b = top[2 * j + 1];
        const T c = bottom[2 * j];
        const T d = bottom[2 * j + 1];
        T most = top[2 * j];
        Place<T> where = 0;
        where = (b > most) | (b != b) ? 1 : where;
        most = (b > most) | (b != b) ? b : most;
        where = (c > most) | (c != c) ? 2 : where;
        most = (c > most) | (c != c) ? c : most;
        where = (d > most) | (d != d) ? 3 : where;
        most = (d > most) | (d != d) ? d : most;
        out[j] = most <= 0 ? T(0) : most;
        place[j] = most <= 0 ? kNoGradient : where;
    }
}

template <class T>
void unpool_row(const T* __restrict gradient, const Place<T>* __restrict place, T* __restrict top,
                T* __restrict bottom, std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) {
        const T g = gradient[j] + T(0);  // LibTorch adds to 0, so -0 becomes 0
        const Place<T> where = place[j];
        top[2 * j] = where == 0 ? g : T(0);
        top[2 * j + 1] = where == 1 ? g : T(0);
        bottom[2 * j] = where == 2 ? g : T(0);
        bottom[2 * j + 1] = where == 3 ? g : T(0);
    }
}

// Calls work(row) for every row of windows of all planes, in parallel.
template <class Work>
void for_rows(const torch::Tensor& out, Work work) {
    const std::int64_t rows = out.numel() / out.size(3);
    at::parallel_for(0, rows, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) work(row);
    });
}

template <class T>
void pool(const torch::Tensor& x, torch::Tensor& out, torch::Tensor& place) {
    const std::int64_t width = out.size(3);
    const T* from = x.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    auto* places = place.mutable_data_ptr<Place<T>>();
    for_rows(out, [=](std::int64_t row) {
        const T* top = from + row * 4 * width;
        pool_row(top, top + 2 * width, to + row * width, places + row * width, width);
    });
}

template <class T>
void unpool(const torch::Tensor& gradient, const torch::Tensor& place, torch::Tensor& out) {
    const std::int64_t width = gradient.size(3);
    const T* from = gradient.const_data_ptr<T>();
    const auto* places = place.const_data_ptr<Place<T>>();
    T* to = out.mutable_data_ptr<T>();
    for_rows(gradient, [=](std::int64_t row) {
        T* top = to + row * 4 * width;
        unpool_row(from + row * width, places + row * width, top, top + 2 * width, width);
    });
}

class ReluMaxPool : public torch::autograd::Function<ReluMaxPool> {
  public:
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& x) {
        const std::vector<std::int64_t> shape{x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2};
        torch::Tensor out = torch::empty(shape, x.options());
        const bool wide = x.scalar_type() == torch::kDouble;
        torch::Tensor place =
            torch::empty(shape, x.options().dtype(wide ? kPlaceType<double> : kPlaceType<float>));
        wide ? pool<double>(x, out, place) : pool<float>(x, out, place);
        context->save_for_backward({place});
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const torch::Tensor place = context->get_saved_variables().front();
        const torch::Tensor gradient = gradients.front().contiguous();
        torch::Tensor out =
            torch::empty({place.size(0), place.size(1), place.size(2) * 2, place.size(3) * 2},
                         gradient.options());
        gradient.scalar_type() == torch::kDouble ? unpool<double>(gradient, place, out)
                                                 : unpool<float>(gradient, place, out);
        return {out};
    }
};

bool fits(const torch::Tensor& x) {
    const bool type = x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble;
    // A trace cannot record our kernel.
    return !at::tracer::impl::is_dispatch_enabled() && x.is_cpu() && type && x.dim() == 4 &&
           x.is_contiguous() && x.size(2) % 2 == 0 && x.size(3) % 2 == 0 &&
           x.size(1) * x.size(2) * x.size(3) > 0;
}

}  // namespace

torch::Tensor relu_max_pool_2x2(const torch::Tensor& x, Ops ops) {
    return ops == Ops::ranklab && fits(x) ? ReluMaxPool::apply(x)
                                          : torch::max_pool2d(torch::relu(x), 2);
}

}  // namespace ranklab::nn
