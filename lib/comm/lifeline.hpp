// Notices a rank whose process is gone, however it ended and wherever it ran. Launchers differ: mpirun ends
// the job itself; srun without --kill-on-bad-exit leaves the other ranks waiting in a collective, and MPI
// says nothing. So every rank holds a TCP connection to rank 0: the kernel closes those of a dead process at
// once. It carries no data, and a job whose ranks cannot reach each other this way runs without it.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_handle.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

struct SocketTraits {
    using type = int;
    static constexpr type empty = -1;
    static void close(type descriptor) noexcept;
};
using Socket = base::unique_handle<SocketTraits>;

class Lifeline {
  public:
    /// Collective. `on_lost("rank 1 on node07")` is called at most once, on a thread of its own, some seconds
    /// after that rank's process ended: a launcher that ends the job by itself has done so by then.
    /// Rank 0 hears of every rank, the others of rank 0.
    Lifeline(Communicator& control, const std::string& host,
             std::function<void(const std::string& who)> on_lost);
    /// From here on this rank's end is no loss to the others.
    ~Lifeline();
    Lifeline(const Lifeline&) = delete;
    Lifeline& operator=(const Lifeline&) = delete;
    Lifeline(Lifeline&&) = delete;
    Lifeline& operator=(Lifeline&&) = delete;

  private:
    struct Meeting {  // where and how to find rank 0
        std::string password;
        int port = 0;
        std::vector<std::string> addresses;
    };
    void open_listener();
    void serve();  // rank 0's thread
    bool admit();
    void follow();  // the other ranks' thread
    Socket reach(const std::string& address) const;
    void watch(Socket& peer, std::size_t rank);
    bool stopped_within(int milliseconds) const;

    int rank_;
    std::function<void(const std::string&)> on_lost_;
    std::vector<std::string> names_;  // "rank 1 on node07", by rank
    Meeting meeting_;
    Socket listener_;
    std::vector<Socket> peers_;  // by rank; on ranks above 0 only that to rank 0
    Socket stop_;                // written by the destructor; the thread polls it
    bool lost_one_ = false;
    std::thread thread_;
};

}  // namespace ranklab::comm
