#include "comm/line_guest.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace ranklab::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One try, which ends at `deadline` or when `stop` says so.
class Try {
  public:
    Try(int stop, Clock::time_point deadline) : stop_(stop), deadline_(deadline) {}

    bool stopped() const { return ready(stop_, POLLIN, milliseconds(0)); }
    /// Until then, or until it is stopped.
    void rest(milliseconds time) const { static_cast<void>(ready(stop_, POLLIN, time)); }

    Socket knock(const std::string& text, const LineKeys& keys, int rank) const {
        const auto place = place_of(text);
        Socket socket = new_socket();
        if (!place || !socket) return Socket{};
        const int begun = connect(socket.get(), reinterpret_cast<const sockaddr*>(&*place), sizeof *place);
        const bool welcome = (begun == 0 || errno == EINPROGRESS) && waits_for(socket.get(), POLLOUT) &&
                             send_now(socket.get(), hello_of(keys, rank)) &&
                             answers(socket.get(), keys.answer) &&
                             send_now(socket.get(), std::string(1, kConfirmed));
        return welcome ? std::move(socket) : Socket{};
    }

  private:
    static bool ready(int descriptor, short events, milliseconds time) {
        pollfd one{descriptor, events, 0};
        return poll(&one, 1, static_cast<int>(time.count())) > 0;
    }
    // True when it is so before the deadline and the stop.
    bool waits_for(int socket, short events) const {
        const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
        pollfd both[] = {{socket, events, 0}, {stop_, POLLIN, 0}};
        const int got = poll(both, 2, static_cast<int>(std::max<milliseconds::rep>(0, left.count())));
        return got > 0 && both[1].revents == 0 && (both[0].revents & events) != 0;
    }
    bool answers(int socket, const std::string& answer) const {
        std::string said;
        while (said.size() < answer.size()) {
            char byte = 0;
            if (!waits_for(socket, POLLIN) || recv(socket, &byte, 1, MSG_DONTWAIT) != 1) return false;
            said += byte;
        }
        return said == answer;
    }

    int stop_;
    Clock::time_point deadline_;
};

}  // namespace

Reached reach(std::span<const LineTarget> targets, int rank, int stop, LinePatience patience) {
    if (std::ranges::all_of(targets, [](const LineTarget& target) { return target.places.empty(); }))
        return {};
    const auto begin = Clock::now();
    const auto end = begin + patience.all;
    // Not beyond what there is in all: a time that doubles in each of very short rounds is soon no time any
    // more.
    for (milliseconds time = patience.first; end - Clock::now() >= milliseconds(1);
         time = std::min(2 * time, patience.all)) {
        const auto round_ends = Clock::now() + time;
        const bool is_late = targets.front().places.empty() || Clock::now() - begin >= 3 * patience.all / 4;
        const auto each = is_late ? patience.first : time;  // so that all have their turn
        for (const auto& target : targets.first(is_late ? targets.size() : 1)) {
            for (const auto& place : target.places) {
                const Try one(stop, std::min(end, Clock::now() + each));
                Socket socket = one.knock(place, target.keys, rank);
                if (socket) return {target.rank, std::move(socket)};
                if (one.stopped()) return {};
            }
        }
        // Refused at once: the other rank may be late.
        const auto left = std::chrono::duration_cast<milliseconds>(std::min(end, round_ends) - Clock::now());
        const Try next(stop, end);
        next.rest(std::max(milliseconds(0), left / 4));
        if (next.stopped()) break;
    }
    return {};
}

}  // namespace ranklab::comm
