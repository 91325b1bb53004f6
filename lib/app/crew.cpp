#include "app/crew.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"

namespace ranklab::app {
namespace {

// Who sleeps wakes up so seldom that the others do not feel it.
constexpr auto kNap = std::chrono::milliseconds(50);
constexpr double kPatience = 10;

class WorkOfCrew final : public experiments::Work {
  public:
    WorkOfCrew(const Crew& crew, Session& session, std::unique_ptr<experiments::Work> work)
        : crew_(crew), session_(session), work_(std::move(work)) {}

    bool repeat() override {
        bool more = false;
        crew_.make([&] { more = work_->repeat(); });
        return agreed(more);
    }
    bool was_whole() const override { return agreed(work_ != nullptr && work_->was_whole()); }
    void rest() override {
        crew_.make([&] { work_->rest(); });
    }
    results::Run finish() override {
        results::Run run;
        crew_.make([&] { run = work_->finish(); });
        return run;
    }

  private:
    // Rank 0 is in every crew.
    bool agreed(bool mine) const { return comm::from_root(session_.control(), mine); }

    const Crew& crew_;
    Session& session_;
    std::unique_ptr<experiments::Work> work_;  // nullptr on who sleeps
};

}  // namespace

Crew::Crew(Session& session, Launch launch)
    : session_(session), launch_(std::move(launch)), control_(&session.control()) {}

Crew::Crew(Session& session, Launch launch, const std::vector<int>& ranks)
    : session_(session), launch_(std::move(launch)) {
    const int rank = session.control().rank();
    const bool aboard = std::ranges::binary_search(ranks, rank);
    own_ = session.control().split(aboard ? 0 : 1, rank);
    control_ = aboard ? own_.get() : nullptr;
}

Crew Crew::without_threads() const {
    Crew same = *this;
    for (auto& place : same.launch_.placements) place.threads = 0;
    return same;
}

void Crew::make(const std::function<void()>& work) const {
    if (is_whole()) return work();
    const base::StopSignals signals;  // who sleeps does not end by one: the crew hears of it, too, and tells
    comm::together_politely(
        session_.control(),
        [&] {
            if (is_aboard()) work();
        },
        [] {}, kPatience, kNap);
}

std::unique_ptr<experiments::Work> Crew::begin(
    const std::function<std::unique_ptr<experiments::Work>()>& begin) const {
    if (is_whole()) return begin();
    std::unique_ptr<experiments::Work> work;
    make([&] { work = begin(); });
    return std::make_unique<WorkOfCrew>(*this, session_, std::move(work));
}

std::vector<int> crew_ranks(const std::vector<host::Placement>& placements, int count, bool spread) {
    std::map<std::string, int> order;  // of hosts, as ranks meet them
    for (const auto& place : placements) order.try_emplace(place.host, static_cast<int>(order.size()));
    std::map<std::string, int> met;
    std::vector<std::pair<std::pair<int, int>, int>> queue;
    for (std::size_t rank = 0; rank < placements.size(); ++rank) {
        const auto& host = placements[rank].host;
        const int place = met[host]++;
        queue.push_back(
            {spread ? std::pair{place, order[host]} : std::pair{order[host], place}, static_cast<int>(rank)});
    }
    std::ranges::sort(queue);
    std::vector<int> ranks;
    for (int i = 0; i < count; ++i) ranks.push_back(queue[static_cast<std::size_t>(i)].second);
    std::ranges::sort(ranks);
    return ranks;
}

std::vector<host::Placement> placements_of(const std::vector<host::Placement>& placements,
                                           const std::vector<int>& ranks) {
    std::vector<host::Placement> theirs;
    std::map<std::string, int> local;
    for (const int rank : ranks) {
        auto place = placements[static_cast<std::size_t>(rank)];
        place.rank = static_cast<int>(theirs.size());
        place.local_rank = local[place.host]++;
        theirs.push_back(std::move(place));
    }
    return theirs;
}

}  // namespace ranklab::app
