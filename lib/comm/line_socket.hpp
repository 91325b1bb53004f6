// The sockets of the lifeline, and what both ends of a handshake must know. Private to comm and its tests.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>

#include "base/descriptor.hpp"

namespace ranklab::comm {

using Socket = base::Descriptor;

/// The handshake: the guest says hello_of(keys, rank), the door keys.answer, the guest kConfirmed. Only then
/// it is a peer: one that gave up before is nobody's loss, and may come again. The first note from the door's
/// side is the welcome: the guest whose line ends before it has lost nobody either. Each door has keys of its
/// own, which its guests learn by MPI.
struct LineKeys {
    std::string password;
    std::string answer;

    static auto fields(auto& self) { return std::tie(self.password, self.answer); }
};
inline constexpr char kConfirmed = 'C';
LineKeys random_keys();
std::string hello_of(const LineKeys& keys, int rank);

/// "10.0.0.1:40123", and back; nullopt for what is no IPv4 address.
std::string place_text(const sockaddr_in& place);
std::optional<sockaddr_in> place_of(const std::string& text);

Socket new_socket();  ///< TCP, non-blocking
/// Before bind(): a port that only lines of this process use, of which none listens, is free.
void may_take_over(int socket);
/// A node that lost its power closes nothing: ask every few seconds.
void keep_alive(int socket);
/// As many bytes of it as there is room for, without waiting; how many.
std::size_t send_some(int socket, const std::string& text);
/// All of it, without waiting.
bool send_now(int socket, const std::string& text);

}  // namespace ranklab::comm
