// Numbers as numpy.savetxt writes them ("%.18e"), fast.
#pragma once

#include <cstddef>

namespace ranklab::io {

/// The longest text of a finite float64 in this form ("-1.797693134862315708e+308").
inline constexpr std::size_t kLongestValue = 26;

/// Writes `value`, which is finite, as C's printf("%.18e") does, and returns the end. `to` has room for
/// kLongestValue characters.
char* write_value(double value, char* to);

}  // namespace ranklab::io
