// Notices a rank whose process is gone, however it ended and wherever it ran, and lets each rank know
// whether any other makes progress. Launchers differ: mpirun ends the job itself; srun without
// --kill-on-bad-exit leaves the other ranks waiting in a collective, and MPI says nothing. So the ranks hold
// TCP connections to their neighbours in a tree, a few each at any number of ranks: the kernel closes those
// of a dead process at once. Each carries a byte a second each way. docs/adr/0021-the-lifeline-is-a-tree.md
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/motion.hpp"
#include "comm/communicator.hpp"
#include "comm/line_door.hpp"
#include "comm/line_guest.hpp"
#include "comm/line_meeting.hpp"
#include "comm/line_node.hpp"
#include "comm/standing.hpp"

namespace ranklab::comm {

struct LifelineSettings {
    LinePatience patience;                      ///< of a rank with the one above it
    std::chrono::milliseconds open_for{45000};  ///< how long a rank waits for those below it
    std::function<void()> before_meeting;       ///< on the thread, first: for tests of ranks that are late
    int branches = LineTree::kBranches;         ///< for tests of few ranks: 1 is a chain
};

struct LifelineCalls {
    /// `who`: "rank 1 on node07". At most once, some seconds after that rank's process ended: a launcher that
    /// ends the job by itself has done so by then. On rank 0, and later on the neighbours of the one that is
    /// gone: where rank 0 ends the job they are not asked.
    std::function<void(const std::string& who)> lost;
    /// On the others, at most once: `who` is gone, and the rank above, which knew of it, has ended as well,
    /// as it does where it ends the job. Not every launcher ends all for one; this rank has to end, too. ""
    /// where enough others say so.
    std::function<void(const std::string& who)> ended;
    /// On rank 0, at most once: these ranks could not be reached. Nothing will be known of them.
    std::function<void(const std::string& who)> unreached;
};

class Lifeline {
  public:
    /// Collective. The calls are made by a thread of its own.
    Lifeline(Communicator& control, const std::string& host, LifelineCalls calls,
             LifelineSettings settings = {});
    /// From here on this rank's end is no loss to the others.
    ~Lifeline();

    /// The liveliest motion that others told of since the last call; unknown while one of them is not
    /// connected, has just come and told nothing yet, or is late and not yet silent for seconds.
    base::Motion heard();
    /// Tells the others of this rank's motion, and of what heard() said last. To be called about as often on
    /// all ranks: each call takes it one line further.
    void tell(base::Motion own, const std::string& activity);
    /// On rank 0 of all others; elsewhere of those below this rank, and of the one above where it does not
    /// answer. Nothing where there are no others.
    std::optional<Standing> others() const;
    /// How many lines are between rank 0 and the rank farthest from it, and between rank 0 and this one.
    int depth() const { return node_ ? node_->seat().depth : 0; }
    int level() const { return node_ ? node_->seat().level : 0; }
    /// The addresses of this rank's door; of one that has nobody below it, those of the door above.
    const std::vector<std::string>& places() const { return places_; }

  private:
    struct Line {
        Socket socket;
        std::string outgoing;  // of words, where the socket took a part alone
    };

    void run();
    void knock();
    void join(int rank, Socket socket);
    void follow();
    void look_for_others();
    void serve_door();
    void say_unreached();
    void listen_to(int rank);
    std::optional<LineNode::End> take_from(int rank, std::optional<std::string>& told);
    void hear_of_loss(const std::string& who, int from);
    void see_loss(int rank);
    void pass_on(const std::string& who, int from);
    void end_if_it_is_time();
    int grace_as_neighbour_of(int rank) const;
    int wait_ms() const;

    LifelineCalls calls_;
    LifelineSettings settings_;
    LineKeys keys_;  // of the own door
    std::vector<std::string> places_;
    std::vector<LineTarget> targets_;
    Socket stop_;    // written by the destructor; the threads poll it
    Socket wake_;    // written by tell(), where the thread has to look for other neighbours
    Socket events_;  // an epoll of these, the door and the lines

    // The thread's:
    std::unique_ptr<LineDoor> door_;
    LineNode::Time meeting_ends_;
    bool has_met_ = false;  // all below have come, or are not waited for any more
    bool over_ = false;     // nothing more to do
    std::string lost_;      // the first of whom was heard that it is gone
    struct End {
        LineNode::Time at;
        bool speaks = true;  // otherwise the one above has said why
    };
    std::optional<End> end_;  // of the job, by this rank, if nobody ends it before
    int times_turned_away_ = 0;
    std::thread knocking_;  // on the doors above, which takes its time
    std::atomic<bool> knocks_ = false;

    mutable std::mutex mutex_;  // guards what follows
    std::unique_ptr<LineNode> node_;
    std::map<int, Line> lines_;  // by rank

    std::thread thread_;
};

}  // namespace ranklab::comm
