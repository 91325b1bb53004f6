// When a ceiling is one: what both who measures it and who shows it go by.
#pragma once

namespace ranklab::base {

/// Per cent. What reaches more of a ceiling was not bound by it, noise of two measurements apart.
inline constexpr double kMostOfCeiling = 105;

}  // namespace ranklab::base
