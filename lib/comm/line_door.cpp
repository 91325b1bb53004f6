#include "comm/line_door.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace ranklab::comm {
namespace {

constexpr std::size_t kRankDigits = 8;
constexpr std::size_t kMostStrangers = 64;
constexpr int kBacklog = 4096;

// The rest of the descriptors that this process may have is for its work.
std::size_t most_strangers() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostStrangers;
    return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 8, 1, kMostStrangers));
}

}  // namespace

LineDoor::LineDoor(std::span<const std::string> addresses, LineKeys keys, std::vector<int> ranks)
    : keys_(std::move(keys)),
      ranks_(std::move(ranks)),
      most_guests_(ranks_.size() + most_strangers()),
      events_(epoll_create1(EPOLL_CLOEXEC)) {
    for (const auto& address : addresses) listen_on(address);
}

void LineDoor::listen_on(const std::string& address) {
    auto place = place_of(address);
    Socket listener = new_socket();
    if (!place || !listener || !events_) return;
    socklen_t size = sizeof *place;
    auto* where = reinterpret_cast<sockaddr*>(&*place);
    may_take_over(listener.get());  // the port that this process had before, from its own lines
    if (bind(listener.get(), where, size) != 0 || listen(listener.get(), kBacklog) != 0 ||
        getsockname(listener.get(), where, &size) != 0 || !watch(listener.get()))
        return;
    places_.push_back(place_text(*place));
    listeners_.push_back(std::move(listener));
}

bool LineDoor::watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    return epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

std::vector<LineDoor::Arrival> LineDoor::serve() {
    std::vector<Arrival> arrivals;
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const int descriptor = events[i].data.fd;
        const auto is_it = [descriptor](const auto& one) { return one.get() == descriptor; };
        if (std::any_of(listeners_.begin(), listeners_.end(), is_it)) {
            let_in(descriptor, arrivals);
            continue;
        }
        // A guest's event may be older than its being hung up on.
        const auto guest =
            std::find_if(guests_.begin(), guests_.end(), [&](const Guest& one) { return is_it(one.socket); });
        if (guest != guests_.end()) attend(guest, arrivals);
    }
    const auto now = std::chrono::steady_clock::now();
    // One that knows the password may take itself for a peer already: it leaves by itself where it gave up.
    std::erase_if(guests_,
                  [&](const Guest& guest) { return guest.rank < 0 && now - guest.came > kGuestSeconds; });
    return arrivals;
}

void LineDoor::let_in(int listener, std::vector<Arrival>& arrivals) {
    constexpr int kAtOnce = 256;  // the ranks that are here already have their turn, too
    for (int i = 0; i < kAtOnce; ++i) {
        Socket socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket && (errno == EMFILE || errno == ENFILE) && hang_up_on_a_stranger()) continue;
        if (!socket) return;
        make_room();
        if (!watch(socket.get())) return;
        guests_.push_back({std::move(socket), "", -1, std::chrono::steady_clock::now()});
        attend(std::prev(guests_.end()), arrivals);  // a rank's hello is often here already
    }
}

void LineDoor::make_room() {
    if (guests_.size() < most_guests_) return;
    if (!hang_up_on_a_stranger()) guests_.pop_front();
}

bool LineDoor::hang_up_on_a_stranger() {
    const auto stranger =
        std::find_if(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.rank < 0; });
    if (stranger == guests_.end()) return false;
    guests_.erase(stranger);
    return true;
}

void LineDoor::attend(Guests::iterator guest, std::vector<Arrival>& arrivals) {
    const Heard heard = hear(*guest);
    if (heard == Heard::waits) return;
    if (heard == Heard::arrives) {
        epoll_ctl(events_.get(), EPOLL_CTL_DEL, guest->socket.get(), nullptr);
        arrivals.push_back({guest->rank, std::move(guest->socket)});
    }
    guests_.erase(guest);
}

LineDoor::Heard LineDoor::hear(Guest& guest) const {
    const std::size_t hello = keys_.password.size() + kRankDigits;
    std::array<char, 128> bytes{};
    // Not beyond the handshake: what follows is the peer's.
    const auto got = recv(guest.socket.get(), bytes.data(),
                          std::min(bytes.size(), hello + 1 - guest.said.size()), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Heard::waits : Heard::leaves;
    if (got == 0) return Heard::leaves;
    guest.said.append(bytes.data(), got);
    const auto known = std::min(guest.said.size(), keys_.password.size());
    if (guest.said.compare(0, known, keys_.password, 0, known) != 0) return Heard::leaves;
    if (guest.said.size() < hello) return Heard::waits;
    if (guest.rank < 0) {
        const char* digits = guest.said.data() + keys_.password.size();
        const auto [end, error] = std::from_chars(digits, digits + kRankDigits, guest.rank, 16);
        const bool whole = error == std::errc() && end == digits + kRankDigits;
        if (!whole || std::ranges::find(ranks_, guest.rank) == ranks_.end()) return Heard::leaves;
        if (!send_now(guest.socket.get(), keys_.answer)) return Heard::leaves;
    }
    if (guest.said.size() == hello) return Heard::waits;
    return guest.said.back() == kConfirmed ? Heard::arrives : Heard::leaves;
}

}  // namespace ranklab::comm
