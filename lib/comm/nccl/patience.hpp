// How long a rank waits for the others inside NCCL. Private to comm: it shows nccl.h.
#pragma once

#include <nccl.h>

#include <chrono>
#include <functional>
#include <string>

namespace ranklab::comm {

using Patience = std::chrono::duration<double>;

/// RANKLAB_NCCL_TIMEOUT in seconds, 180 if unset: less than the watchdog's --stall-timeout, which knows only
/// that nothing moves. EnvironmentError if it is no number above 0. `lookup` returns nullptr for an unset
/// name.
Patience nccl_patience(const std::function<const char*(const char*)>& lookup);
Patience nccl_patience();

/// "ncclAllReduce has not come to an end within 180 s: ..." and what to do.
std::string hang_sentence(const std::string& what, Patience patience);

/// Runs a call that waits for other ranks inside the library, on a thread of its own, and throws NcclError
/// with hang_sentence(what) if it does not return in time. The thread is then left behind, so `call` holds
/// what it uses by value; the caller is expected to end the job. (A communicator that NCCL itself makes
/// non-blocking could be aborted instead, but NCCL 2.28 then starts a thread for every collective: that would
/// be measured.)
ncclResult_t within(Patience patience, const std::string& what, std::function<ncclResult_t()> call);

}  // namespace ranklab::comm
