// A batch where the model is, and as it lies there.
#pragma once

#include "train/input.hpp"

namespace ranklab::train {

/// To a GPU from pinned memory (what is not pinned is copied there first), put on the current stream: the
/// host does not wait, and the GPU's next operations come after it. Channels innermost where that was asked.
TensorBatch placed(TensorBatch batch, const Placement& placement);

}  // namespace ranklab::train
