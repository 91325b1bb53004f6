#include "comm/lifeline.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "base/ticker.hpp"

namespace ranklab::comm {
namespace {

using Clock = std::chrono::steady_clock;
using base::Motion;

// Notes are single bytes: a Motion, or these. An activity is a text between its two.
constexpr char kGoodbye = 'B';
constexpr char kActivity = 'a';
constexpr char kActivityEnds = '\n';
constexpr std::size_t kLongestActivity = 100;
// One that is late misses fewer, and on a crowded machine may be late by seconds.
constexpr int kNotesLate = 2;
constexpr int kNotesMissed = 4;
constexpr auto kLeastSilence = std::chrono::seconds(5);
// How long a launcher may take to end the job by itself; the ranks above 0 then speak one after the other, so
// that one sentence is enough.
constexpr int kGraceMs = 3000;
constexpr int kGracePerRankMs = 200;
constexpr int kMostGraceMs = 6000;

constexpr std::uint32_t kStop = ~0U;
constexpr std::uint32_t kDoor = ~0U - 1;  // other events are a peer's, by its place in peers_

bool add(int events, int descriptor, std::uint32_t what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = what;
    return epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

}  // namespace

Lifeline::Lifeline(Communicator& control, const std::string& host, LifelineCalls calls,
                   LifelineSettings settings)
    : rank_(control.rank()), calls_(std::move(calls)), settings_(settings) {
    if (control.world_size() == 1) return;
    meet(control, host);
    stop_.reset(eventfd(0, EFD_CLOEXEC));
    events_.reset(epoll_create1(EPOLL_CLOEXEC));
    peers_.resize(rank_ == 0 ? names_.size() : 1);
    static_cast<void>(add(events_.get(), stop_.get(), kStop));
    thread_ = base::thread_without_signals([this] { run(); });
}

Lifeline::~Lifeline() {
    if (thread_.joinable()) {
        const std::uint64_t one = 1;
        static_cast<void>(!write(stop_.get(), &one, sizeof one));
        thread_.join();
    }
    for (const auto& peer : peers_) {
        if (peer.socket) send_now(peer.socket.get(), std::string(1, kGoodbye));
    }
}

void Lifeline::run() {
    base::observe_only();
    if (settings_.before_meeting) settings_.before_meeting();
    if (rank_ == 0)
        open_door();
    else
        knock();
    while (!over_) follow_peers();
}

// Until all ranks are here, or none is waited for any more.
void Lifeline::open_door() {
    static_cast<void>(add(events_.get(), door_->descriptor(), kDoor));
    const auto end = Clock::now() + settings_.open_for;
    while (!over_ && !all_joined()) {
        follow_peers();
        if (Clock::now() < end) continue;
        say_unreached();
        break;
    }
    door_.reset();
}

void Lifeline::join(int rank, Socket socket) {
    if (!socket) return;
    const std::lock_guard lock(mutex_);
    auto& peer = peers_[rank];
    if (peer.socket || peer.left) return;  // it has come before
    keep_alive(socket.get());
    peer.note_heard();
    if (!add(events_.get(), socket.get(), static_cast<std::uint32_t>(rank))) return;
    if (rank_ == 0)
        send_now(socket.get(), std::string(1, static_cast<char>(Motion::unknown)));  // the welcome
    peer.socket = std::move(socket);
}

bool Lifeline::all_joined() const {
    const std::lock_guard lock(mutex_);
    return std::all_of(peers_.begin() + 1, peers_.end(),
                       [](const Peer& peer) { return peer.socket || peer.left; });
}

void Lifeline::follow_peers() {
    std::array<epoll_event, 64> events{};
    const int wait_ms = door_ ? 200 : -1;
    const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
    if (count < 0 && errno != EINTR) over_ = true;
    for (int i = 0; i < count && !over_; ++i) {
        const std::uint32_t what = events[i].data.u32;
        if (what == kStop) over_ = true;
        if (what != kStop && what != kDoor) listen_to(what);
    }
    if (over_ || !door_) return;
    for (auto& arrival : door_->serve()) join(arrival.rank, std::move(arrival.socket));
}

// What comes is notes, a goodbye, or the end of a process that had said none.
void Lifeline::listen_to(std::size_t rank) {
    std::array<char, 512> bytes{};
    {
        const std::lock_guard lock(mutex_);
        Peer& peer = peers_[rank];
        const auto got = recv(peer.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        for (ssize_t i = 0; i < got && !peer.left; ++i) take(peer, bytes[i]);
        if (got > 0 && !peer.left) return;
        peer.socket.reset();
        if (peer.left) return;
        turned_away_ = rank_ != 0 && !peer.told;  // without a welcome: a door that was closed, and no loss
    }
    if (!turned_away_) mourn(rank);
}

void Lifeline::mourn(std::size_t rank) {
    over_ = true;
    if (!stopped_within(std::min(kGraceMs + kGracePerRankMs * rank_, kMostGraceMs)))
        calls_.lost(names_[rank]);
}

void Lifeline::take(Peer& peer, char byte) {
    if (peer.in_activity) {
        peer.in_activity = byte != kActivityEnds;
        if (peer.in_activity)
            peer.incoming += byte;
        else
            peer.activity = std::exchange(peer.incoming, "");
        return;
    }
    peer.left = byte == kGoodbye;
    peer.in_activity = byte == kActivity;
    if (peer.left || peer.in_activity) return;
    peer.told = true;
    peer.note_heard();
    peer.best = base::livelier(peer.best, static_cast<Motion>(byte));
}

void Lifeline::Peer::note_heard() {
    unheard = 0;
    heard_at = std::chrono::steady_clock::now();
}

bool Lifeline::Peer::is_mute() const {
    return unheard >= kNotesMissed && std::chrono::steady_clock::now() - heard_at >= kLeastSilence;
}

Motion Lifeline::heard() {
    const std::lock_guard lock(mutex_);
    others_ = Motion::none;
    for (std::size_t i = rank_ == 0 ? 1 : 0; i < peers_.size(); ++i) {
        Peer& peer = peers_[i];
        const bool told_lately = peer.told && peer.unheard < kNotesLate;
        const bool known = peer.left || (peer.socket && (told_lately || peer.is_mute()));
        others_ = base::livelier(others_, known ? peer.best : Motion::unknown);
        peer.best = Motion::none;
    }
    return others_;
}

void Lifeline::tell(Motion own, const std::string& activity) {
    const std::lock_guard lock(mutex_);
    std::string note(1, static_cast<char>(rank_ == 0 ? base::livelier(own, others_) : own));
    if (rank_ != 0 && peers_.front().socket && peers_.front().outgoing.empty() &&
        activity != told_activity_) {
        note += kActivity + base::printable(activity, kLongestActivity) + kActivityEnds;
        told_activity_ = activity;
    }
    for (Peer& peer : peers_) {
        ++peer.unheard;
        if (!peer.socket) continue;
        if (peer.outgoing.empty()) peer.outgoing = note;  // what a stopped one has not taken goes first
        peer.outgoing.erase(0, send_some(peer.socket.get(), peer.outgoing));
    }
}

std::vector<PeerState> Lifeline::peers() const {
    const std::lock_guard lock(mutex_);
    std::vector<PeerState> states;
    for (std::size_t i = rank_ == 0 ? 1 : 0; i < peers_.size(); ++i) {
        const Peer& peer = peers_[i];
        const bool connected = peer.socket || peer.left;
        states.push_back({.name = names_[i],
                          .rank = static_cast<int>(i),
                          .connected = connected,
                          .answers = connected && (peer.left || !peer.is_mute()),
                          .activity = peer.activity});
    }
    return states;
}

bool Lifeline::stopped_within(int milliseconds) const {
    pollfd one{stop_.get(), POLLIN, 0};
    return poll(&one, 1, milliseconds) > 0;
}

}  // namespace ranklab::comm
