#include "nn/resnet.hpp"

namespace ranklab::nn {

ModelEntry resnet152_entry() {
    return resnet_entry("resnet152",
                        "ResNet-152 v1.5 for 100 classes, 58,348,708 parameters (torchvision's)",
                        {.bottleneck = true, .blocks = {3, 8, 36, 3}});
}

}  // namespace ranklab::nn
