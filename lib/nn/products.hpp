// The multiply-accumulates of one of LibTorch's operations, from the shapes that a callback sees:
// convolutions, transposed ones among them, and matrix products.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>

namespace ranklab::nn {

/// Made before the operation, whose inputs are gone afterwards.
struct Products {
    std::int64_t macs = 0;          ///< of one row of the first dimension
    bool times_the_output = false;  ///< ... and for each element of the output's row
    std::int64_t rows = 0;

    /// Asked after the operation: of one row.
    std::int64_t macs_of_row(const at::RecordFunction& function) const;
};

/// The operation's own inputs: from TorchScript a callback sees the interpreter's whole stack.
c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& function);

/// nullptr where the operation has none.
std::unique_ptr<Products> products_of(const at::RecordFunction& function);

}  // namespace ranklab::nn
