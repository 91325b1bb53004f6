#include "nn/resnet.hpp"

namespace ranklab::nn {

ModelEntry resnet50_entry() {
    return resnet_entry("resnet50",
                        "ResNet-50 v1.5 for 100 classes, 23,712,932 parameters (torchvision's)",
                        {.bottleneck = true, .blocks = {3, 4, 6, 3}});
}

}  // namespace ranklab::nn
