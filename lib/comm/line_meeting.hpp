// How the ranks of a lifeline find each other: by MPI, each with its neighbours in the tree. Private to comm
// and its tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/line_door.hpp"
#include "comm/line_guest.hpp"
#include "comm/line_tree.hpp"

namespace ranklab::comm {

struct LineMeeting {
    LineSeat seat;
    std::map<int, std::string> names;  ///< "rank 1 on node07": of this rank and its neighbours
    LineKeys keys;                     ///< of the own door
    std::unique_ptr<LineDoor> door;    ///< nullptr where nobody is below
    std::vector<LineTarget> targets;   ///< the doors above: the parent's, then the grandparent's
};

/// Collective. Each rank sends one text up and gets one from above, whatever the number of ranks; all tell
/// all only what host they are on, in 8 bytes.
LineMeeting meet(Communicator& control, const std::string& host, int branches = LineTree::kBranches);

/// The ranks that the door of that seat lets in.
std::vector<int> guests_of(const LineSeat& seat);

}  // namespace ranklab::comm
