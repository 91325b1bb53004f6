// The one owner of a finished run: from the moment rank 0 has its numbers it is on the disk, printed, and
// then in the shared file, or a sentence says where it lies (docs/adr/0011-a-finished-run-has-an-owner.md).
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "base/last_words.hpp"
#include "base/pinned.hpp"
#include "results/lock_wait.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// The steps, each of which may fail in any way. Tests put others in their place.
struct DeliveryWays {
    /// Has the run alone on the disk, and says where.
    std::function<std::filesystem::path(const results::Run&)> secure;
    /// Has it in the shared file, and what was secured removed.
    std::function<void(const results::Run&, const results::LockWait&)> store;
    std::function<void(const std::string&)> print;
};

/// What goes to stdout of one run.
struct Shown {
    std::string answer = {};    ///< before the run is stored
    std::string epilogue = {};  ///< behind, where that went well
    /// Longer than a pipe may take from who is about to be killed: behind, also where the run is not stored.
    std::string data = {};
    std::string note = {};                   ///< on stderr, once the run is stored, before `data`
    std::function<void()> answered = [] {};  ///< called once `answer` is printed
};

class Delivery : base::Pinned {
  public:
    /// `output`: the shared file, or "none". The lock is waited for as `wait` says.
    /// `verbose`: says early where the run will lie until it is stored.
    Delivery(const std::string& output, results::LockWait wait, bool verbose = false);
    Delivery(DeliveryWays ways, std::string output, results::LockWait wait, bool verbose = false);
    /// Says where a run lies that was kept and not delivered: the work has failed meanwhile.
    ~Delivery();

    /// Secures a run that is not finished; the caller has marked it. A failure is a line on the log.
    void keep(const results::Run& so_far) noexcept;

    /// Secures, prints the answer, stores, prints the rest: each is tried, whatever became of those before.
    /// Throws when all is done: EnvironmentError where the run is not in the shared file (with the place
    /// where it is) or the answer could not be printed; Interrupted where a signal came (it ends the
    /// waiting, never the writing).
    void deliver(const results::Run& run, const Shown& shown);

  private:
    std::string place_sentence() const;
    void secure(const results::Run& run, bool whole);
    void store(const results::Run& run);
    std::exception_ptr undisturbed(const std::function<void()>& step);
    [[noreturn]] void throw_unstored(const std::exception_ptr& failure, const results::Run& run,
                                     std::exception_ptr unsecured);
    [[noreturn]] void throw_stopped() const;
    void forget();

    DeliveryWays ways_;
    std::string output_;
    results::LockWait wait_;
    bool verbose_;
    std::filesystem::path place_;  // of what is secured; "" where nothing is, or it is stored
    bool whole_ = false;           // that, or a part
    base::LastWords words_;
    int signal_ = 0;  // that came during a delivery
};

}  // namespace ranklab::app
