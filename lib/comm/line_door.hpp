// The upper side of the lifeline's handshake: lets the ranks below in and strangers not, and waits for
// nobody. Private to comm and its tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "comm/line_socket.hpp"

namespace ranklab::comm {

class LineDoor {
  public:
    /// Listens on each of the addresses, where it can: "127.0.0.1", or "127.0.0.1:40123" for that very port.
    LineDoor(std::span<const std::string> addresses, LineKeys keys, std::vector<int> ranks);

    /// Where it listens: "127.0.0.1:40123".
    const std::vector<std::string>& places() const { return places_; }
    /// Readable when serve() has something to do. To be called each second besides, for those who say
    /// nothing.
    int descriptor() const { return events_.get(); }
    std::size_t guests() const { return guests_.size(); }

    struct Arrival {
        int rank = 0;
        Socket socket;
    };
    /// Takes the handshakes on by what has come, without waiting; the ranks that have finished theirs. Who
    /// says something else than the password is hung up on, who says nothing for `kGuestSeconds` too, and
    /// before that where more than `most_guests` stand here: the one that came first of those who have not
    /// said the password.
    std::vector<Arrival> serve();

    static constexpr std::chrono::seconds kGuestSeconds{20};
    std::size_t most_guests() const { return most_guests_; }

  private:
    struct Guest {
        Socket socket;
        std::string said;
        int rank = -1;  // once it has said the password
        std::chrono::steady_clock::time_point came;
    };
    using Guests = std::list<Guest>;
    enum class Heard { waits, leaves, arrives };

    void listen_on(const std::string& address);
    void let_in(int listener, std::vector<Arrival>& arrivals);
    void make_room();
    bool hang_up_on_a_stranger();
    bool watch(int descriptor);
    /// Reads what a guest says; it is gone from the list unless it waits.
    void attend(Guests::iterator guest, std::vector<Arrival>& arrivals);
    Heard hear(Guest& guest) const;

    LineKeys keys_;
    std::vector<int> ranks_;  // that may come
    std::size_t most_guests_;
    std::vector<Socket> listeners_;
    std::vector<std::string> places_;
    Guests guests_;
    Socket events_;  // an epoll of all of these
};

}  // namespace ranklab::comm
