// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include "experiments/shared/tool.hpp"

namespace ranklab::experiments {

class DataSetsTool final : public Tool {
  public:
    std::string command() const override { return "data"; }
    std::string summary() const override {
        return "Makes, verifies and converts data sets; all ranks take part, and the bytes do not depend on "
               "how many they "
               "are.";
    }
    std::vector<std::unique_ptr<Verb>> verbs() const override;
};

}  // namespace ranklab::experiments
