// Shows no progress.
#pragma once

#include "base/progress.hpp"

namespace ranklab::testing {

class QuietProgress final : public base::ProgressSink {
  public:
    void activity(std::string_view) override {}
    void update(std::int64_t, std::int64_t, double, std::string_view, std::string_view) override {}
    void finish() override {}
};

}  // namespace ranklab::testing
