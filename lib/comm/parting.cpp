#include "comm/parting.hpp"

#include <mpi.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/line_meeting.hpp"

namespace ranklab::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kOut = "o";  // what a rank says that is in no call of MPI any more, with all below it

int ms_until(Clock::time_point end) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 1000));  // a second: doors are to be served that often
}

// A byte, or the end of the line, or of patience.
bool hear(const Socket& socket, Clock::time_point end) {
    while (Clock::now() < end) {
        pollfd one{socket.get(), POLLIN, 0};
        if (poll(&one, 1, ms_until(end)) <= 0) continue;
        char byte = 0;
        return recv(socket.get(), &byte, 1, 0) == 1;
    }
    return false;
}

std::vector<Socket> let_in(LineDoor& door, std::size_t guests, Clock::time_point end) {
    std::vector<Socket> inside;
    while (inside.size() < guests && Clock::now() < end) {
        pollfd one{door.descriptor(), POLLIN, 0};
        static_cast<void>(poll(&one, 1, ms_until(end)));
        for (auto& arrival : door.serve()) inside.push_back(std::move(arrival.socket));
    }
    return inside;
}

std::string processor_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return name.data();
}

}  // namespace

bool must_part_without_mpi([[maybe_unused]] Communicator& control) {
#ifdef OPEN_MPI
    return false;
#else
    if (control.world_size() == 1) return false;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::int64_t must = std::string_view(text.data()).find("ch4:ucx") != std::string_view::npos ? 1 : 0;
    control.allreduce(view(std::span(&must, 1)), ReduceOp::max);  // ranks may have loaded different libraries
    return must != 0;
#endif
}

void part_without_mpi(Communicator& control, double patience_s) {
    auto meeting = meet(control, processor_name());
    const auto patience = milliseconds(static_cast<long>(1000 * patience_s));
    const auto end = Clock::now() + patience;
    Socket up;
    if (!meeting.targets.empty())
        up = reach(std::span(meeting.targets).first(1), control.rank(), -1, {.all = patience}).socket;
    std::vector<Socket> below;
    if (meeting.door) below = let_in(*meeting.door, meeting.seat.branches.size(), end);
    for (const auto& socket : below) static_cast<void>(hear(socket, end));
    if (up) {
        static_cast<void>(send_now(up.get(), kOut));
        static_cast<void>(hear(up, end));
    }
    for (const auto& socket : below) static_cast<void>(send_now(socket.get(), kOut));
}

}  // namespace ranklab::comm
