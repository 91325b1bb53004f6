// Notices a rank whose process is gone, however it ended and wherever it ran, and lets each rank know
// whether any other makes progress. Launchers differ: mpirun ends the job itself; srun without
// --kill-on-bad-exit leaves the other ranks waiting in a collective, and MPI says nothing. So every rank
// holds a TCP connection to rank 0: the kernel closes those of a dead process at once. It carries a byte a
// second. docs/adr/0010-what-moves.md
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/motion.hpp"
#include "comm/communicator.hpp"
#include "comm/line_door.hpp"
#include "comm/line_guest.hpp"

namespace ranklab::comm {

struct LifelineSettings {
    LinePatience patience;                      ///< of the ranks above 0
    std::chrono::milliseconds open_for{45000};  ///< how long rank 0 waits for them
    std::function<void()> before_meeting;       ///< on the thread, first: for tests of ranks that are late
};

struct LifelineCalls {
    /// `who`: "rank 1 on node07". At most once, some seconds after that rank's process ended: a launcher that
    /// ends the job by itself has done so by then.
    std::function<void(const std::string& who)> lost;
    /// On rank 0, at most once: these ranks could not be reached. Nothing will be known of them.
    std::function<void(const std::string& who)> unreached;
};

/// What a rank knows of another one.
struct PeerState {
    std::string name;  ///< "rank 1 on node07"
    int rank = 0;
    bool connected = false;
    bool answers = false;  ///< its last notes came in time
    std::string activity;  ///< as it told last; rank 0's own is not told
};

class Lifeline {
  public:
    /// Collective. The calls are made by a thread of its own. Rank 0 hears of every rank, the others of rank
    /// 0.
    Lifeline(Communicator& control, const std::string& host, LifelineCalls calls,
             LifelineSettings settings = {});
    /// From here on this rank's end is no loss to the others.
    ~Lifeline();

    /// The liveliest motion that others told of since the last call; unknown while one of them is not
    /// connected, has just come and told nothing yet, or is late and not yet silent for seconds.
    base::Motion heard();
    /// Tells the others of this rank's motion; rank 0 passes on what it heard() last. To be called about as
    /// often on all ranks.
    void tell(base::Motion own, const std::string& activity);
    /// On rank 0 all others; elsewhere rank 0.
    std::vector<PeerState> peers() const;
    /// The addresses that rank 0 listens on, until all ranks have come.
    const std::vector<std::string>& places() const { return places_; }

  private:
    struct Peer {
        Socket socket;
        bool left = false;  // said goodbye
        bool told = false;  // a note at least
        base::Motion best = base::Motion::none;
        int unheard = 0;  // calls of tell() since its last note
        std::chrono::steady_clock::time_point heard_at = std::chrono::steady_clock::now();
        void note_heard();
        bool is_mute() const;
        bool in_activity = false;
        std::string activity, incoming;
        std::string outgoing;  // of a note, where it took a part alone
    };

    void meet(Communicator& control, const std::string& host);
    void run();
    void open_door();  // rank 0 waits for all
    void knock();      // the others
    void join(int rank, Socket socket);
    bool all_joined() const;
    void follow_peers();
    void listen_to(std::size_t rank);
    void take(Peer& peer, char byte);
    void mourn(std::size_t rank);
    void say_unreached();
    bool stopped_within(int milliseconds) const;

    int rank_;
    LifelineCalls calls_;
    LifelineSettings settings_;
    std::vector<std::string> names_;  // "rank 1 on node07", by rank
    LineKeys keys_;
    std::vector<std::string> places_;
    std::unique_ptr<LineDoor> door_;  // rank 0's, until all are here
    Socket stop_;                     // written by the destructor; the thread polls it
    Socket events_;                   // an epoll of stop_, the door and the peers
    bool over_ = false;               // the thread's: nothing more to do
    bool turned_away_ = false;        // the same: rank 0 has hung up without a welcome

    mutable std::mutex mutex_;  // guards what follows
    std::vector<Peer> peers_;   // by rank; on ranks above 0 only that to rank 0
    base::Motion others_ = base::Motion::unknown;
    std::string told_activity_;

    std::thread thread_;
};

}  // namespace ranklab::comm
