// A progress display that shows nothing.
#pragma once

#include <string_view>

#include "base/progress.hpp"

namespace ranklab::testing {

class NoProgress final : public base::ProgressSink {
  public:
    void update(std::int64_t, std::int64_t, double, std::string_view, std::string_view) override {}
    void activity(std::string_view) override {}
    void finish() override {}
};

}  // namespace ranklab::testing
