#include "io/wire.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "base/error.hpp"

namespace ranklab::io {
namespace {

constexpr std::uint32_t kMagic = 0x334f4952;  // "RIO3"; another number where a message changes
/// The longest body that a worker sends: a failure's sentence.
constexpr std::uint64_t kLongestAnswer = 64 * 1024;
constexpr std::size_t kTakenAtOnce = 16 * 1024;

bool is_header(const MessageHeader& header) {
    return header.magic == kMagic && header.type >= MessageType::start && header.type <= MessageType::write;
}

}  // namespace

void throw_no_message() {
    throw base::EnvironmentError(
        "what came through its pipe is no message of ranklab's; build and install ranklab-io and "
        "ranklab-io-worker together");
}

Outgoing::Outgoing(MessageType type, std::initializer_list<std::span<const std::byte>> parts)
    : header_{.magic = kMagic, .type = type, .bytes = 0} {
    if (parts.size() >= parts_.size()) throw base::Error("internal: a message of too many parts");
    parts_[count_++] = {&header_, sizeof header_};
    for (const auto part : parts) {
        header_.bytes += part.size();
        // sendmsg only reads what iovec points to, but C's type does not say so.
        parts_[count_++] = {const_cast<std::byte*>(part.data()), part.size()};  // NOLINT
    }
}

Outgoing::State Outgoing::send(int socket, bool wait) {
    while (first_ < count_) {
        msghdr message{};
        message.msg_iov = &parts_[first_];
        message.msg_iovlen = count_ - first_;
        const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return State::blocked;
        if (sent < 0) return State::gone;
        std::size_t rest = sent;
        while (first_ < count_ && rest >= parts_[first_].iov_len) rest -= parts_[first_++].iov_len;
        if (first_ == count_) break;
        parts_[first_].iov_base = static_cast<std::byte*>(parts_[first_].iov_base) + rest;
        parts_[first_].iov_len -= rest;
    }
    return State::sent;
}

bool receive_all(int socket, std::span<std::byte> to) {
    while (!to.empty()) {
        const ssize_t got = ::recv(socket, to.data(), to.size(), MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to = to.subspan(got);
    }
    return true;
}

std::optional<MessageHeader> receive_header(int socket) {
    MessageHeader header;
    if (!receive_all(socket, std::as_writable_bytes(std::span(&header, 1)))) return std::nullopt;
    if (!is_header(header)) throw_no_message();
    return header;
}

bool Inbox::fill(int socket) {
    while (true) {
        const std::size_t before = buffer_.size();
        buffer_.resize(before + kTakenAtOnce);
        const ssize_t got = ::recv(socket, buffer_.data() + before, kTakenAtOnce, MSG_DONTWAIT);
        const int error = errno;
        buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got < 0 && error == EINTR) continue;
        if (got < 0) return error == EAGAIN || error == EWOULDBLOCK;
        if (got == 0) return false;
        // The rest comes with the next call: what floods the pipe cannot fill the memory.
        if (static_cast<std::size_t>(got) < kTakenAtOnce || buffer_.size() > 2 * kLongestAnswer) return true;
    }
}

std::optional<Message> Inbox::next() {
    if (buffer_.empty()) return std::nullopt;
    MessageHeader header{.magic = kMagic};
    const std::size_t known = std::min(buffer_.size(), sizeof header);
    std::memcpy(&header, buffer_.data(), known);
    // Also while it is not whole: whoever sends something else may never send the rest.
    if (header.magic != kMagic || !is_header(header) || header.bytes > kLongestAnswer) throw_no_message();
    const std::size_t whole = sizeof header + header.bytes;
    if (known < sizeof header || buffer_.size() < whole) return std::nullopt;
    const auto end = buffer_.begin() + whole;
    Message message{header.type, {buffer_.begin() + sizeof header, end}};
    buffer_.erase(buffer_.begin(), end);
    bytes_ += whole;
    return message;
}

}  // namespace ranklab::io
