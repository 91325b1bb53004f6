// SIGTERM and Ctrl-C reach whichever ranks they reach. Where ranks work each by itself (StopPoll is for those
// that work in step), the one that was told sends the others a note.
#pragma once

#include <chrono>
#include <set>

#include "comm/communicator.hpp"

namespace ranklab::experiments {

class StopNotes {
  public:
    /// Notes go over `control`, by way of rank 0.
    explicit StopNotes(comm::Communicator& control) : control_(control) {}

    /// Between two pieces of work, and while a rank waits for others: the signal that this rank was told to
    /// stop by, or that another one tells of; 0: go on. Looks for notes ten times a second at most.
    int heard();
    /// The same, but for signals of this rank's own: where it is about to be done and others may be too.
    int heard_from_others();

    /// Collective, after the work: takes the notes that nobody looked for any more. A message that is never
    /// received is a fault of the program to MPI, and some libraries say so on stdout.
    void settle();

  private:
    using Clock = std::chrono::steady_clock;
    void pass_on();
    void send_to(int rank) const;
    void take_from(int rank);

    comm::Communicator& control_;
    Clock::time_point looked_at_ = Clock::now();
    int signal_ = 0;
    bool has_passed_on_ = false;
    std::set<int> taken_;  // the ranks whose note was received; each sends one to a rank at most
};

}  // namespace ranklab::experiments
