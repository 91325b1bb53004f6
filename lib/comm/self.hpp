// The communicator of one rank, without MPI.
#pragma once

#include <memory>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// One rank alone: every collective is a copy or nothing. What the backend 'self' of the catalogue makes.
std::unique_ptr<Communicator> make_self();

}  // namespace ranklab::comm
