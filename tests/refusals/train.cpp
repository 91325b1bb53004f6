#include "refusals/refusals.hpp"

namespace ranklab::refusals {

std::vector<Refusal> of_train() {
    return {
        {"train --step 5", 2, {"unknown option --step", "did you mean --steps?"}},
        {"train --batchsize=64", 2, {"unknown option --batchsize", "did you mean --batch-size?"}},
        {"train --qqqqqqqqq", 2, {"unknown option --qqqqqqqqq", "--help"}},
        {"train --batch-size 0", 2, {"--batch-size", "at least 1", "'0'"}},
        {"train --threads 0", 2, {"--threads", "at least 1", "'0'"}},
        {"train --steps 10 --warmup 10", 2, {"warm-up of 10 steps", "--warmup"}},
        {"train --batch-size 8 --global-batch-size 16", 2, {"--batch-size", "--global-batch-size", "one of them"}},
        {"train --steps 5 --epochs 1", 2, {"--steps", "--epochs", "one of them"}},
        {"train --model mnist-cn", 2, {"--model", "mnist-cn", "did you mean mnist-cnn?"}},
        {"train --config missing.ini", 2, {"missing.ini"}},
        {"train --config unknown_key.ini", 2, {"stepz"}},
        {"train stray", 2, {"'stray'", "not expected"}},
    };
}

}  // namespace ranklab::refusals
