#include "comm/line_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>

namespace ranklab::comm {
namespace {

std::string random_text() {
    std::random_device source;
    return fmt::format("ranklab-{:08x}{:08x}{:08x}", source(), source(), source());
}

void set(int socket, int level, int option, int value) {
    static_cast<void>(setsockopt(socket, level, option, &value, sizeof value));  // works without, too
}

}  // namespace

LineKeys random_keys() {
    return {random_text(), random_text()};
}

std::string hello_of(const LineKeys& keys, int rank) {
    return fmt::format("{}{:08x}", keys.password, rank);
}

std::string place_text(const sockaddr_in& place) {
    char text[INET_ADDRSTRLEN] = "";
    static_cast<void>(inet_ntop(AF_INET, &place.sin_addr, text, sizeof text));
    return fmt::format("{}:{}", text, ntohs(place.sin_port));
}

std::optional<sockaddr_in> place_of(const std::string& text) {
    const auto colon = text.find(':');
    std::uint16_t port = 0;
    if (colon != std::string::npos) std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    if (inet_pton(AF_INET, text.substr(0, colon).c_str(), &place.sin_addr) != 1) return std::nullopt;
    return place;
}

Socket new_socket() {
    return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void may_take_over(int socket) {
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
}

void keep_alive(int socket) {
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

std::size_t send_some(int socket, const std::string& text) {
    const auto sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return std::max<ssize_t>(0, sent);
}

bool send_now(int socket, const std::string& text) {
    return send_some(socket, text) == text.size();
}

}  // namespace ranklab::comm
