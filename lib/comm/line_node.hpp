// What one rank of the lifeline knows of its neighbours, and what it tells them: no sockets, no threads, no
// clock of its own. What is below is folded into one note and one Standing, so that each line carries as
// much at any number of ranks. docs/adr/0021-the-lifeline-is-a-tree.md. Private to comm and its tests.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/motion.hpp"
#include "comm/line_tree.hpp"
#include "comm/line_words.hpp"
#include "comm/standing.hpp"

namespace ranklab::comm {

class LineNode {
  public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    /// `names`: "rank 1 on node07", of the neighbours that are known by name.
    LineNode(LineSeat seat, std::map<int, std::string> names, Time now);

    const LineSeat& seat() const { return seat_; }
    std::string name_of(int rank) const;
    /// Those that may have a line to this rank: what is above, and two levels below.
    bool may_join(int rank) const { return peers_.contains(rank); }

    /// A line to that rank works. False where it had come before, or has no business here.
    bool joined(int rank, Time now);
    /// Bytes that came from there. The name of a rank that is gone, where they tell of one.
    std::optional<std::string> take(int rank, std::string_view bytes, Time now);
    enum class End {
        left,         ///< it had said goodbye
        turned_away,  ///< by a door that was just closed: nobody is lost
        lost,
    };
    End ended(int rank);
    bool has_left(int rank) const { return at(rank).left; }

    /// The liveliest motion that others told of since the last call; unknown while one of them is not
    /// connected, has just come and told nothing yet, or is late and not yet silent for seconds.
    base::Motion heard(Time now);
    /// Then, of this rank's own: words_for() has what each neighbour is told of it.
    void tell(base::Motion own, const std::string& activity, Time now);
    /// To one with a line to this rank, after tell().
    std::string words_for(int rank);
    /// Of all others that this rank knows of: on rank 0 of all.
    Standing others(Time now) const;

    /// All below are connected, as far as they have told.
    bool is_whole() const;
    /// One right below is silent, and those below it, who still work, may come here.
    bool expects_more(Time now) const;
    /// The rank above is silent, and the one above that one is not connected yet.
    bool seeks_another(Time now) const;
    /// With a line upwards.
    std::vector<int> above() const;
    bool is_below(int rank) const { return rank != seat_.parent && rank != seat_.grandparent; }

    /// One that misses fewer notes is late, on a crowded machine by seconds.
    static constexpr int kNotesMissed = 4;
    static constexpr std::chrono::seconds kLeastSilence{5};
    /// The ranks behind a silent one find another line within this time, or are silent as well.
    static constexpr std::chrono::seconds kTimeToMove{15};

  private:
    struct Peer {
        bool connected = false;
        bool left = false;       // said goodbye, or has another line
        bool told = false;       // a note at least
        bool stands = false;     // its standing is known
        bool elsewhere = false;  // the rank above counts it, and all below it
        base::Motion best = base::Motion::none;
        int unheard = 0;  // calls of tell() since its last note
        Time heard_at;
        Standing standing = {};          // of one below: as it told last
        std::string told_standing = {};  // to one above: so that it is told again only when it is another
        LineEar ear = {};

        bool is_here() const { return connected || left; }
    };

    static bool is_mute(const Peer& peer, Time now);
    static bool is_mute_for_long(const Peer& peer, Time now);
    static base::Motion motion_of(const Peer& peer, Time now);
    base::Motion motion_below(const LineSeat::Branch& branch, Time now) const;
    base::Motion motion_above(Time now) const;
    void hear(Peer& peer, const LineWord& word, Time now);
    Standing below(Time now) const;
    void add_branch(Standing& all, const LineSeat::Branch& branch, Time now) const;
    void add_twig(Standing& all, const LineSeat::Branch& twig, Time now) const;
    const Peer& at(int rank) const { return peers_.at(rank); }

    LineSeat seat_;
    std::map<int, std::string> names_;
    std::map<int, Peer> peers_;         // all that may join
    std::map<int, std::string> moved_;  // by the rank above whom they were: who has come here from there
    base::Motion below_ = base::Motion::unknown;
    base::Motion above_ = base::Motion::none;
    base::Motion own_ = base::Motion::unknown;
    std::string standing_;  // of this rank and all below it, packed
};

}  // namespace ranklab::comm
