// The schedule of `ranklab io`: each round makes one repetition of every strategy, in random order,
// until each strategy has enough of them.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "base/handle.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/record.hpp"
#include "experiments/storage/repetition.hpp"

namespace ranklab::experiments {

class Schedule : base::Immovable {
  public:
    /// Collective. One settled struct per strategy, in ladder order. Both arguments must outlive
    /// it.
    Schedule(const std::vector<StorageOptions>& settled, const RunContext& context);
    ~Schedule();

    /// Collective. The runs in ladder order, and for several strategies their comparison. A failed
    /// strategy leaves the others to go on; a signal ends all. A strategy that ended before its
    /// first counted repetition has no run.
    Runs runs();

  private:
    struct Entry {
        const StorageOptions& options;
        StorageFolder folder;
        Repeater repeater;
        StorageRecord record;
        double seconds = 0;  // in all its repetitions
        bool complete = false, failed = false;

        Entry(const StorageOptions& settled, const RunContext& context);
        std::int64_t counted() const;
        bool has_counted() const { return counted() > 0 || !record.passes.empty(); }
    };

    void make_rounds();
    void make_one(Entry& entry);
    bool repeat(Entry& entry);
    bool goes_on(Entry& entry, bool whole);
    bool has_enough(Entry& entry, bool is_last);
    void end_early(Entry& entry, int exit_code);
    void fail(Entry& entry, int exit_code);
    void remove_files(Entry& entry);
    bool any_has_counted() const;
    void add_run(Entry& entry, std::vector<results::Run>& runs);

    const RunContext& context_;
    std::vector<std::unique_ptr<Entry>> entries_;
    Turn turn_{.number = 0, .of = 0};
    std::mt19937_64 random_;
    int signal_ = 0;
    std::exception_ptr failure_;  // the first strategy's
};

}  // namespace ranklab::experiments
