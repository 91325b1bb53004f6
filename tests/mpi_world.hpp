// The communicator of a test that runs as several ranks. tests/mpi/main.cpp makes it.
//
// Collectives are called by all ranks or by none: no ASSERT_* of a value that may differ between
// ranks before one. Use EXPECT_*, or agree first.
#pragma once

#include "comm/communicator.hpp"

namespace ranklab::testing {

/// The control communicator of all ranks of this test program.
comm::Communicator& world();

}  // namespace ranklab::testing
