#include "comm/lifeline.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>

#include "comm/exchange.hpp"

namespace ranklab::comm {
namespace {

constexpr char kWelcome = 'W';
constexpr char kGoodbye = 'B';
// How long a launcher may take to end the job by itself; the ranks above 0 then speak one after the other, so
// that one sentence is enough.
constexpr int kGraceMs = 3000;
constexpr int kGracePerRankMs = 200;
constexpr int kMostGraceMs = 6000;
constexpr int kHandshakeMs = 2000;

std::string random_password() {
    std::random_device source;
    return fmt::format("ranklab-{:08x}{:08x}", source(), source());
}

// Rank 0's IPv4 addresses, as other nodes may reach it.
std::vector<std::string> own_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
    std::vector<std::string> addresses;
    for (const ifaddrs* item = first; item != nullptr; item = item->ifa_next) {
        const bool usable = item->ifa_addr != nullptr && item->ifa_addr->sa_family == AF_INET &&
                            (item->ifa_flags & IFF_UP) != 0 && (item->ifa_flags & IFF_LOOPBACK) == 0;
        if (!usable) continue;
        sockaddr_in address;
        std::memcpy(&address, item->ifa_addr, sizeof address);
        char text[INET_ADDRSTRLEN] = "";
        if (inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != nullptr) addresses.emplace_back(text);
    }
    return addresses;
}

void set(int socket, int level, int option, int value) {
    static_cast<void>(setsockopt(socket, level, option, &value, sizeof value));  // works without, too
}

// A node that lost its power closes nothing: ask every few seconds.
void keep_alive(int socket) {
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

bool send_all(int socket, const std::string& text) {
    return send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

/// Exactly `count` bytes within the handshake's time, or "".
std::string receive(int socket, std::size_t count) {
    const timeval limit{kHandshakeMs / 1000, 0};
    static_cast<void>(setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    std::string text(count, '\0');
    const bool whole = recv(socket, text.data(), count, MSG_WAITALL) == static_cast<ssize_t>(count);
    return whole ? text : "";
}

std::string hello(const std::string& password, int rank) {
    return fmt::format("{}{:08x}", password, rank);
}

bool readable(int socket, int milliseconds) {
    pollfd one{socket, POLLIN, 0};
    return poll(&one, 1, milliseconds) > 0;
}

}  // namespace

void SocketTraits::close(type descriptor) noexcept {
    ::close(descriptor);
}

Lifeline::Lifeline(Communicator& control, const std::string& host,
                   std::function<void(const std::string&)> on_lost)
    : rank_(control.rank()), on_lost_(std::move(on_lost)) {
    if (control.world_size() == 1) return;
    const auto hosts = gather_texts(control, host);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
        names_.push_back(fmt::format("rank {} on {}", rank, hosts[rank]));
    if (rank_ == 0) open_listener();
    std::istringstream words(broadcast_text(
        control,
        fmt::format("{} {} {}", meeting_.password, meeting_.port, fmt::join(meeting_.addresses, " ")), 0));
    words >> meeting_.password >> meeting_.port;
    meeting_.addresses.clear();
    if (hosts[static_cast<std::size_t>(rank_)] == hosts[0]) meeting_.addresses.emplace_back("127.0.0.1");
    for (std::string address; words >> address;) meeting_.addresses.push_back(address);

    stop_.reset(eventfd(0, EFD_CLOEXEC));
    if (meeting_.port == 0 || !stop_) return;
    peers_.resize(rank_ == 0 ? hosts.size() : 1);
    // Signals are the main thread's: a thread inherits the mask it is made under.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { rank_ == 0 ? serve() : follow(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Lifeline::~Lifeline() {
    if (thread_.joinable()) {
        const std::uint64_t one = 1;
        static_cast<void>(!write(stop_.get(), &one, sizeof one));
        thread_.join();
    }
    for (const auto& peer : peers_) {
        if (peer) send_all(peer.get(), std::string(1, kGoodbye));
    }
}

// Leaves the port at 0 where there is no listening.
void Lifeline::open_listener() {
    meeting_.password = random_password();
    meeting_.addresses = own_addresses();
    listener_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!listener_) return;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    auto* address = reinterpret_cast<sockaddr*>(&any);
    const bool listens = bind(listener_.get(), address, size) == 0 && listen(listener_.get(), 4096) == 0 &&
                         getsockname(listener_.get(), address, &size) == 0;
    if (listens) meeting_.port = ntohs(any.sin_port);
}

void Lifeline::serve() {
    std::size_t missing = peers_.size() - 1;
    std::size_t knocks = 0;
    while (!lost_one_) {
        std::vector<pollfd> all{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        for (const auto& peer : peers_) all.push_back({peer.get(), POLLIN, 0});  // poll skips -1
        if (poll(all.data(), all.size(), -1) < 0 && errno != EINTR) return;
        if (all[0].revents != 0) return;
        for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
            if (all[rank + 2].revents != 0 && !lost_one_) watch(peers_[rank], rank);
        }
        if (all[1].revents == 0) continue;
        if (admit()) --missing;
        // Closed to strangers once all are here, or when too many of them came.
        if (missing == 0 || ++knocks > 2 * peers_.size()) listener_.reset();
    }
}

// One that knows the password becomes a peer; anybody else is hung up on.
bool Lifeline::admit() {
    Socket guest(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!guest) return false;
    const auto said = receive(guest.get(), hello(meeting_.password, 0).size());
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
        if (said != hello(meeting_.password, static_cast<int>(rank))) continue;
        keep_alive(guest.get());
        if (peers_[rank] || !send_all(guest.get(), std::string(1, kWelcome))) return false;
        peers_[rank] = std::move(guest);
        return true;
    }
    return false;
}

void Lifeline::follow() {
    for (const auto& address : meeting_.addresses) {
        peers_[0] = reach(address);
        if (peers_[0] || stopped_within(0)) break;
    }
    while (peers_[0] && !lost_one_) {
        pollfd both[] = {{stop_.get(), POLLIN, 0}, {peers_[0].get(), POLLIN, 0}};
        if (poll(both, 2, -1) < 0 && errno != EINTR) return;
        if (both[0].revents != 0) return;
        if (both[1].revents != 0) watch(peers_[0], 0);
    }
}

// The same address may be another machine's (bridges of containers have the same everywhere): only rank 0
// answers to the password.
Socket Lifeline::reach(const std::string& address) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(meeting_.port));
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket || inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return Socket{};
    const timeval limit{kHandshakeMs / 1000, 0};  // holds for connect, too
    static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
    const bool welcome = connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
                         send_all(socket.get(), hello(meeting_.password, rank_)) &&
                         receive(socket.get(), 1) == std::string(1, kWelcome);
    if (!welcome) return Socket{};
    keep_alive(socket.get());
    return socket;
}

// What comes is a goodbye, or the end of a process that had said none.
void Lifeline::watch(Socket& peer, std::size_t rank) {
    char byte = 0;
    const auto got = recv(peer.get(), &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    peer.reset();
    if (got == 1 && byte == kGoodbye) return;
    lost_one_ = true;
    if (!stopped_within(std::min(kGraceMs + kGracePerRankMs * rank_, kMostGraceMs))) on_lost_(names_[rank]);
}

bool Lifeline::stopped_within(int milliseconds) const {
    return readable(stop_.get(), milliseconds);
}

}  // namespace ranklab::comm
