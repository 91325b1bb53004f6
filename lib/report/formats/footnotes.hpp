// Private to this room: the marks of a table's rows, told below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/model/notices.hpp"

namespace ranklab::report::formats {

/// Marks told once each, in the order met; those that differ in their numbers alone are one.
class Footnotes {
  public:
    /// " [2]", what a row refers to this mark by; nothing for none.
    std::string reference(const std::string& mark);
    /// A line a mark, and an empty one; nothing where there is none.
    std::string text() const;

  private:
    model::Notices marks_{SIZE_MAX};
    std::size_t references_ = 0;
};

}  // namespace ranklab::report::formats
