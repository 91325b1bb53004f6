// What Open MPI takes for granted of the machine and the user that it starts for, and some containers lack.
#pragma once

#include <functional>

namespace ranklab::comm {

/// Whether the daemon that Open MPI starts beside a process without a launcher must be kept from looking for
/// ssh: there is no ssh and no rsh, for which it ends the process, and the user has said nothing about it
/// (plm). `lookup` returns nullptr for an unset name.
bool must_forbid_rsh(const std::function<const char*(const char*)>& lookup,
                     const std::function<bool(const char*)>& has_program);

/// Before MPI_Init: settings in this process's environment with which it starts on such a machine. A user
/// without a name and without HOME gets the HOME / that container programs give: PMIx 4.2 ends by a signal
/// without.
void settle_for_bare_machine();

}  // namespace ranklab::comm
