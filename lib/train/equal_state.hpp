// Makes the ranks' training states one again, after steps in which they did not talk to each other.
#pragma once

#include "comm/communicator.hpp"
#include "nn/model.hpp"
#include "train/grad_scaler.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {

/// Rank 0's on every rank: parameters, buffers, what the optimizer keeps (and keeps none of: SGD's momentum
/// is made at a parameter's first step, which a scaler may have left out on one rank), the scaler's scale and
/// counts. `scaler` is null where the loss is not scaled, on all ranks. Random generators stay each rank's
/// own, as they are from the start; gradients are made anew in the next step. Collective.
void take_state_of_rank_0(nn::Model& model, Optimizer& optimizer, GradScaler* scaler,
                          comm::Communicator& control);

}  // namespace ranklab::train
