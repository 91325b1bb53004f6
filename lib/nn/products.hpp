// The multiply-accumulates of one LibTorch operation (convolution, transposed convolution, matrix
// product, attention, oneDNN's LSTM), from the shapes that a callback sees.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>

#include "base/handle.hpp"

namespace ranklab::nn {

/// LibTorch calls `callbacks` for this thread's operations while the object lives.
class OperationCallbacks : base::Immovable {
  public:
    explicit OperationCallbacks(at::RecordFunctionCallback callbacks)
        : handle_(at::addThreadLocalCallback(callbacks)) {}
    ~OperationCallbacks() { at::removeCallback(handle_); }

  private:
    at::CallbackHandle handle_;
};

/// Multiply-accumulates of one operation, made by products_of() while the operation's inputs exist.
struct Products {
    std::int64_t macs = 0;          ///< per row of the first dimension
    bool times_the_output = false;  ///< `macs` is per element of the output's row instead
    std::int64_t rows = 0;

    /// Multiply-accumulates per row. Call it after the operation, when the output exists.
    std::int64_t macs_of_row(const at::RecordFunction& function) const;
};

/// The operation's inputs only: under TorchScript function.inputs() is the interpreter's stack.
c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& function);

/// Whether the operation is scaled_dot_product_attention, or a kernel of it.
bool is_attention(const at::RecordFunction& function);

/// Call it before `function` runs. Returns nullptr for other operations.
std::unique_ptr<Products> products_of(const at::RecordFunction& function);

}  // namespace ranklab::nn
