#include "comm/line_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/pack.hpp"

namespace ranklab::comm {
namespace {

using base::livelier;
using base::Motion;
using Kind = LineWord::Kind;

constexpr int kNotesLate = 2;

}  // namespace

LineNode::LineNode(LineSeat seat, std::map<int, std::string> names, Time now)
    : seat_(std::move(seat)), names_(std::move(names)) {
    const auto add = [&](int rank) {
        if (rank >= 0) peers_[rank].heard_at = now;
    };
    add(seat_.parent);
    add(seat_.grandparent);
    for (const auto& branch : seat_.branches) {
        add(branch.rank);
        for (const auto& twig : branch.twigs) add(twig.rank);
    }
}

std::string LineNode::name_of(int rank) const {
    const auto known = names_.find(rank);
    return known == names_.end() ? fmt::format("rank {}", rank) : known->second;
}

bool LineNode::joined(int rank, Time now) {
    const auto found = peers_.find(rank);
    if (found == peers_.end() || found->second.is_here()) return false;
    found->second = {.connected = true, .heard_at = now};
    for (const auto& branch : seat_.branches)
        if (std::ranges::find(branch.twigs, rank, &LineSeat::Branch::rank) != branch.twigs.end())
            moved_[branch.rank] += spoken(Kind::elsewhere, fmt::format("{}", rank));
    return true;
}

std::optional<std::string> LineNode::take(int rank, std::string_view bytes, Time now) {
    Peer& peer = peers_.at(rank);
    peer.ear.hear(bytes);
    std::optional<std::string> lost;
    while (const auto word = peer.left ? std::nullopt : peer.ear.next()) {
        if (word->kind == Kind::lost)
            lost = lost.value_or(word->text);
        else
            hear(peer, *word, now);
    }
    return lost;
}

void LineNode::hear(Peer& peer, const LineWord& word, Time now) {
    if (word.is_note()) {
        peer.told = true;
        peer.unheard = 0;
        peer.heard_at = now;
        peer.best = livelier(peer.best, word.motion());
    } else if (word.kind == Kind::goodbye) {
        peer.left = true;
    } else if (word.kind == Kind::standing) {
        if (auto standing = base::unpacked<Standing>(word.text)) peer.standing = *std::move(standing);
        peer.stands = true;
    } else if (word.kind == Kind::elsewhere) {
        int rank = -1;
        std::from_chars(word.text.data(), word.text.data() + word.text.size(), rank);
        const auto moved = peers_.find(rank);
        if (moved == peers_.end()) return;
        moved->second.elsewhere = true;
        if (!moved->second.connected) moved->second.left = true;
    }
}

LineNode::End LineNode::ended(int rank) {
    Peer& peer = peers_.at(rank);
    peer.connected = false;
    if (peer.left) return End::left;
    if (is_below(rank) || peer.told) return End::lost;
    peer = {.heard_at = peer.heard_at};
    return End::turned_away;
}

bool LineNode::is_mute(const Peer& peer, Time now) {
    return peer.connected && !peer.left && peer.unheard >= kNotesMissed &&
           now - peer.heard_at >= kLeastSilence;
}

bool LineNode::is_mute_for_long(const Peer& peer, Time now) {
    return is_mute(peer, now) && now - peer.heard_at >= kLeastSilence + kTimeToMove;
}

Motion LineNode::motion_of(const Peer& peer, Time now) {
    const bool told_lately = peer.connected && peer.told && peer.unheard < kNotesLate;
    return peer.left || told_lately || is_mute(peer, now) ? peer.best : Motion::unknown;
}

// A silent one's word stands for those behind it no more: they come here, or are silent as well.
Motion LineNode::motion_below(const LineSeat::Branch& branch, Time now) const {
    const Peer& peer = at(branch.rank);
    Motion all = motion_of(peer, now);
    for (const auto& twig : branch.twigs) {
        if (at(twig.rank).is_here())
            all = livelier(all, motion_of(at(twig.rank), now));
        else if (is_mute(peer, now) && !is_mute_for_long(peer, now))
            all = livelier(all, Motion::unknown);
    }
    return all;
}

Motion LineNode::motion_above(Time now) const {
    if (seat_.parent < 0) return Motion::none;
    const Peer& parent = at(seat_.parent);
    const bool is_deaf = !parent.is_here() || is_mute(parent, now);
    if (seat_.grandparent < 0) return motion_of(parent, now);
    const Peer& second = at(seat_.grandparent);
    if (!second.is_here())
        return is_deaf && !is_mute_for_long(parent, now) ? Motion::unknown : motion_of(parent, now);
    return is_deaf ? motion_of(second, now) : livelier(motion_of(parent, now), motion_of(second, now));
}

Motion LineNode::heard(Time now) {
    below_ = Motion::none;
    for (const auto& branch : seat_.branches) below_ = livelier(below_, motion_below(branch, now));
    above_ = motion_above(now);
    for (auto& [rank, peer] : peers_) peer.best = Motion::none;
    return livelier(below_, above_);
}

void LineNode::tell(Motion own, const std::string& activity, Time now) {
    own_ = own;
    for (auto& [rank, peer] : peers_) ++peer.unheard;
    if (seat_.parent < 0) return;
    Standing all = below(now);
    all.add_activity(activity, RankRanges(seat_.rank));
    standing_ = base::packed(all);
}

std::string LineNode::words_for(int rank) {
    if (is_below(rank))
        return spoken(livelier(own_, livelier(below_, above_))) + std::exchange(moved_[rank], "");
    std::string words = spoken(livelier(own_, below_));
    if (auto& told = peers_.at(rank).told_standing; told != standing_) {
        words += spoken(Kind::standing, standing_);
        told = standing_;
    }
    return words;
}

Standing LineNode::below(Time now) const {
    Standing all;
    for (const auto& branch : seat_.branches) add_branch(all, branch, now);
    return all;
}

void LineNode::add_branch(Standing& all, const LineSeat::Branch& branch, Time now) const {
    const Peer& peer = at(branch.rank);
    const bool speaks = peer.is_here() && !is_mute(peer, now);
    const bool has_told = speaks && (peer.stands || peer.left);
    if (!peer.elsewhere) {
        if (speaks)
            all.add(peer.standing);
        else if (peer.is_here())
            all.silent.add(branch.rank, name_of(branch.rank));
        else
            all.unknown.add(branch.rank, name_of(branch.rank));
    }
    for (const auto& twig : branch.twigs) {
        if (at(twig.rank).is_here())
            add_twig(all, twig, now);  // the branch leaves it out
        else if (!has_told && !peer.elsewhere)
            all.unknown.add(twig.ranks);
    }
}

void LineNode::add_twig(Standing& all, const LineSeat::Branch& twig, Time now) const {
    const Peer& peer = at(twig.rank);
    if (!is_mute(peer, now)) return all.add(peer.standing);
    RankRanges behind = twig.ranks;
    behind.take_out(twig.rank);
    all.silent.add(twig.rank, name_of(twig.rank));
    all.unknown.add(behind);
}

Standing LineNode::others(Time now) const {
    Standing all = below(now);
    if (seat_.parent < 0) return all;
    const Peer& parent = at(seat_.parent);
    if (is_mute(parent, now)) all.silent.add(seat_.parent, name_of(seat_.parent));
    const bool knows_above = parent.is_here() || (seat_.grandparent >= 0 && at(seat_.grandparent).is_here());
    if (!knows_above) all.unknown.add(seat_.parent, name_of(seat_.parent));
    return all;
}

bool LineNode::is_whole() const {
    return std::ranges::all_of(seat_.branches, [this](const LineSeat::Branch& branch) {
        const Peer& peer = at(branch.rank);
        return peer.left ||
               (peer.connected && (branch.twigs.empty() || (peer.stands && peer.standing.unknown.empty())));
    });
}

bool LineNode::expects_more(Time now) const {
    return std::ranges::any_of(seat_.branches, [&](const LineSeat::Branch& branch) {
        return is_mute(at(branch.rank), now) && std::ranges::any_of(branch.twigs, [this](const auto& twig) {
                   return !at(twig.rank).is_here();
               });
    });
}

bool LineNode::seeks_another(Time now) const {
    return seat_.grandparent >= 0 && is_mute(at(seat_.parent), now) && !at(seat_.grandparent).is_here();
}

std::vector<int> LineNode::above() const {
    std::vector<int> ranks;
    for (const int rank : {seat_.parent, seat_.grandparent})
        if (rank >= 0 && at(rank).connected) ranks.push_back(rank);
    return ranks;
}

}  // namespace ranklab::comm
