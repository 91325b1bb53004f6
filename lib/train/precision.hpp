// What a step computes in. See docs/precision.md.
#pragma once

#include <c10/core/DeviceType.h>
#include <torch/types.h>

#include <memory>
#include <string>

#include "nn/model.hpp"

namespace ranklab::train {

/// fp64, fp32: parameters and arithmetic. tf32: parameters in fp32, and products on a GPU's tensor cores
/// whose factors have 11 bits. bf16, fp16: parameters in fp32, and torch's autocast for what it holds to be
/// safe in 16 bits; fp16 wants a GradScaler.
enum class Precision { fp64, fp32, tf32, bf16, fp16 };

/// OptionError for another name.
Precision precision_named(const std::string& name);
/// Of parameters, gradients and input.
torch::Dtype parameter_type(Precision precision);

/// OptionError where that kind of device has no such arithmetic.
void check_precision(Precision precision, torch::DeviceType device);

/// `model`, or for bf16 and fp16 a decorator of it that computes forward and loss under autocast. The casts
/// of the parameters are kept for one forward, as torch.autocast does. fp64 and fp32 need model->to(
/// parameter_type()) alone.
std::shared_ptr<nn::Model> in_precision(std::shared_ptr<nn::Model> model, Precision precision,
                                        torch::DeviceType device);

/// How far two ways to the same gradient may differ where the device's algorithms may do so from call to
/// call, relative to its largest element: a rounding or two of the arithmetic. 0 on the CPU, where the same
/// operations give the same bits.
double rounding_bound(Precision precision, torch::DeviceType device);

/// By what the checks before the first step multiply their loss. In fp16 gradients below 6e-8 would be zeros
/// there, as in training; what is multiplied by 1024 does not overflow yet. 1 in the other precisions.
double gate_scale(Precision precision);

/// For the process: TF32 for fp32 products on a GPU, or not. LibTorch's own default is on for convolutions
/// and off for matrix products: neither fp32 nor tf32.
void allow_tf32(bool allow);

}  // namespace ranklab::train
