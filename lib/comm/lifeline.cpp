#include "comm/lifeline.hpp"

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

using Clock = LineNode::Clock;
using base::Motion;
using std::chrono::milliseconds;
using Kind = LineWord::Kind;

constexpr std::size_t kLongestActivity = 100;
// How long a launcher may take to end the job by itself. Rank 0 speaks then, and others only where it does
// not: one after the other, so that one sentence is enough.
constexpr int kGraceMs = 3000;
constexpr int kGraceOfEndMs = 2000;  // after the one above, which may have ended the job
constexpr int kGraceOfParentMs = 4500;
constexpr int kGraceOfBranchMs = 6000;
constexpr int kGracePerTurnMs = 200;
constexpr int kMostTurns = 15;
// What ranks at the next level tell of those who have not come is there after that.
constexpr std::chrono::seconds kPerLevel{2};
constexpr int kMostTimesTurnedAway = 3;

constexpr std::uint32_t kStop = ~0U;
constexpr std::uint32_t kDoor = ~0U - 1;
constexpr std::uint32_t kWake = ~0U - 2;  // other events are a line's, by its rank

bool add(int events, int descriptor, std::uint32_t what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = what;
    return epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void ring(int descriptor) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(descriptor, &one, sizeof one));
}

// What is unread when a socket is closed makes the kernel take back what was sent.
void read_off(int socket) {
    std::array<char, 4096> bytes{};
    while (recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
}

}  // namespace

Lifeline::Lifeline(Communicator& control, const std::string& host, LifelineCalls calls,
                   LifelineSettings settings)
    : calls_(std::move(calls)), settings_(std::move(settings)) {
    if (control.world_size() == 1) return;
    auto meeting = meet(control, host, settings_.branches);
    const auto now = Clock::now();
    keys_ = std::move(meeting.keys);
    door_ = std::move(meeting.door);
    targets_ = std::move(meeting.targets);
    places_ = door_ ? door_->places() : targets_.front().places;
    meeting_ends_ = now + settings_.open_for;
    if (control.rank() == 0) meeting_ends_ += (meeting.seat.depth - 1) * kPerLevel;
    node_ = std::make_unique<LineNode>(std::move(meeting.seat), std::move(meeting.names), now);
    stop_.reset(eventfd(0, EFD_CLOEXEC));
    wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    events_.reset(epoll_create1(EPOLL_CLOEXEC));
    static_cast<void>(add(events_.get(), stop_.get(), kStop) && add(events_.get(), wake_.get(), kWake) &&
                      (!door_ || add(events_.get(), door_->descriptor(), kDoor)));
    thread_ = base::thread_without_signals([this] { run(); });
}

Lifeline::~Lifeline() {
    if (thread_.joinable()) {
        ring(stop_.get());
        thread_.join();
    }
    for (auto& [rank, line] : lines_) {
        send_now(line.socket.get(), line.outgoing + spoken(Kind::goodbye));
        read_off(line.socket.get());
    }
}

void Lifeline::run() {
    base::observe_only();
    if (settings_.before_meeting) settings_.before_meeting();
    if (!targets_.empty()) knock();
    while (!over_) follow();
    door_.reset();
    if (knocking_.joinable()) knocking_.join();  // stop_ has ended it, or it ends with the process
}

// At the doors of those above to whom there is no line yet.
void Lifeline::knock() {
    if (knocking_.joinable()) knocking_.join();
    std::vector<LineTarget> targets;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& target : targets_)
            if (!lines_.contains(target.rank)) targets.push_back(target);
    }
    knocks_ = true;
    knocking_ = base::thread_without_signals([this, targets = std::move(targets)] {
        base::observe_only();
        auto reached = reach(targets, node_->seat().rank, stop_.get(), settings_.patience);
        if (reached.socket) join(reached.rank, std::move(reached.socket));
        knocks_ = false;
    });
}

void Lifeline::join(int rank, Socket socket) {
    const std::lock_guard lock(mutex_);
    if (!node_->joined(rank, Clock::now())) return;
    keep_alive(socket.get());
    if (node_->is_below(rank)) send_now(socket.get(), spoken(Motion::unknown));  // the welcome
    auto& line = lines_[rank];
    line = {std::move(socket), ""};
    static_cast<void>(add(events_.get(), line.socket.get(), static_cast<std::uint32_t>(rank)));
}

void Lifeline::follow() {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    if (count < 0 && errno != EINTR) over_ = true;
    for (int i = 0; i < count && !over_; ++i) {
        const std::uint32_t what = events[i].data.u32;
        if (what == kStop)
            over_ = true;
        else if (what == kWake)
            look_for_others();
        else if (what != kDoor)
            listen_to(static_cast<int>(what));
    }
    if (!over_ && door_) serve_door();
    end_if_it_is_time();
}

// A neighbour is silent: those behind it may come here, or this rank is behind it.
void Lifeline::look_for_others() {
    std::uint64_t rings = 0;
    static_cast<void>(!read(wake_.get(), &rings, sizeof rings));
    bool seeks = false;
    bool expects = false;
    {
        const std::lock_guard lock(mutex_);
        seeks = node_->seeks_another(Clock::now());
        expects = node_->expects_more(Clock::now());
    }
    if (seeks && !knocks_) knock();
    if (!expects || door_) return;
    door_ = std::make_unique<LineDoor>(places_, keys_, guests_of(node_->seat()));
    static_cast<void>(add(events_.get(), door_->descriptor(), kDoor));
}

// Until all are here, or none is waited for any more.
void Lifeline::serve_door() {
    for (auto& arrival : door_->serve()) join(arrival.rank, std::move(arrival.socket));
    bool is_whole = false;
    bool expects = false;
    {
        const std::lock_guard lock(mutex_);
        is_whole = node_->is_whole();
        expects = node_->expects_more(Clock::now());
    }
    const bool is_late = Clock::now() >= meeting_ends_;
    if (!has_met_ && !is_whole && is_late && node_->seat().rank == 0) say_unreached();
    has_met_ = has_met_ || is_whole || is_late;
    if (has_met_ && !expects) door_.reset();
}

void Lifeline::say_unreached() {
    const auto missing = others()->unknown;
    if (!missing.empty() && calls_.unreached) calls_.unreached(missing.text());
}

void Lifeline::listen_to(int rank) {
    std::optional<std::string> told;
    const auto end = take_from(rank, told);
    if (told) hear_of_loss(*told, rank);
    if (!end) return;
    if (*end == LineNode::End::turned_away && ++times_turned_away_ < kMostTimesTurnedAway) knock();
    if (*end == LineNode::End::lost) see_loss(rank);
}

// What comes is words, a goodbye, or the end of a process that had said none.
std::optional<LineNode::End> Lifeline::take_from(int rank, std::optional<std::string>& told) {
    std::array<char, 4096> bytes{};
    const std::lock_guard lock(mutex_);
    const auto line = lines_.find(rank);
    if (line == lines_.end()) return std::nullopt;
    const auto got = recv(line->second.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (got > 0) told = node_->take(rank, {bytes.data(), static_cast<std::size_t>(got)}, Clock::now());
    if (got > 0 && !node_->has_left(rank)) return std::nullopt;
    lines_.erase(line);
    return node_->ended(rank);
}

// All come to know of it, so that nobody takes the end of one that ends the job for the loss.
void Lifeline::hear_of_loss(const std::string& who, int from) {
    if (!lost_.empty()) return;
    lost_ = who;
    pass_on(who, from);
    if (node_->seat().rank == 0) end_ = {Clock::now() + milliseconds(kGraceMs)};
}

void Lifeline::see_loss(int rank) {
    const auto now = Clock::now();
    if (lost_.empty()) {
        hear_of_loss(node_->name_of(rank), rank);
        if (!end_) end_ = {now + milliseconds(grace_as_neighbour_of(rank))};
    } else if (!node_->is_below(rank)) {
        end_ = {now + milliseconds(kGraceOfEndMs), false};
    }
}

void Lifeline::end_if_it_is_time() {
    if (over_ || !end_ || Clock::now() < end_->at) return;
    over_ = true;
    if (end_->speaks)
        calls_.lost(lost_);
    else if (calls_.ended)
        calls_.ended(node_->seat().level == 1 ? lost_ : "");
}

int Lifeline::wait_ms() const {
    constexpr int kDoorMs = 200;
    if (!end_) return door_ ? kDoorMs : -1;
    const auto left = std::chrono::ceil<milliseconds>(end_->at - Clock::now()).count();
    return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, kDoorMs));
}

void Lifeline::pass_on(const std::string& who, int from) {
    const std::lock_guard lock(mutex_);
    for (auto& [rank, line] : lines_) {
        if (rank == from) continue;
        line.outgoing += spoken(Kind::lost, who);
        line.outgoing.erase(0, send_some(line.socket.get(), line.outgoing));
    }
}

int Lifeline::grace_as_neighbour_of(int rank) const {
    if (node_->is_below(rank)) return kGraceOfParentMs;
    const int turn = std::min(node_->seat().turn + 1, kMostTurns);
    return (rank == 0 ? kGraceMs : kGraceOfBranchMs) + turn * kGracePerTurnMs;
}

Motion Lifeline::heard() {
    const std::lock_guard lock(mutex_);
    return node_ ? node_->heard(Clock::now()) : Motion::none;
}

void Lifeline::tell(Motion own, const std::string& activity) {
    const std::lock_guard lock(mutex_);
    if (!node_) return;
    const auto now = Clock::now();
    node_->tell(own, base::printable(activity, kLongestActivity), now);
    for (auto& [rank, line] : lines_) {
        // What a stopped one has not taken goes first.
        if (line.outgoing.empty()) line.outgoing = node_->words_for(rank);
        line.outgoing.erase(0, send_some(line.socket.get(), line.outgoing));
    }
    if (node_->seeks_another(now) || node_->expects_more(now)) ring(wake_.get());
}

std::optional<Standing> Lifeline::others() const {
    const std::lock_guard lock(mutex_);
    return node_ ? std::optional(node_->others(Clock::now())) : std::nullopt;
}

}  // namespace ranklab::comm
