#include "nn/resnet.hpp"

namespace ranklab::nn {

ModelEntry resnet18_entry() {
    return resnet_entry(
        "resnet18",
        "ResNet-18 of basic blocks for 100 classes, 11,227,812 parameters (torchvision's)",
        {.bottleneck = false, .blocks = {2, 2, 2, 2}});
}

}  // namespace ranklab::nn
