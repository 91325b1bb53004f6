// For trainers whose phases nobody measures.
#pragma once

#include "base/phase.hpp"

namespace ranklab::train {

class NoPhases final : public base::PhaseSink {
  public:
    void enter(base::Phase) override {}
    void leave(base::Phase) override {}
};

}  // namespace ranklab::train
