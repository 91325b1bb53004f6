// Waiting for those who hold a results file's lock: with words, and not for ever.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace ranklab::results {

/// How long to wait, and what to do meanwhile.
struct LockWait {
    static constexpr double kPatience = 300;
    double patience_s = kPatience;
    /// Called several times a second while there is something to wait for; what it throws ends the waiting.
    std::function<void()> beat = {};
    /// Why it is not as long as the user set it: for the sentence when it is over.
    std::string because = {};

    /// The same for so long at most; `why` is said where it was longer.
    LockWait shortened(double most_s, const std::string& why) const;
};

/// One waiting, over both locks and all tries.
class Waiting {
  public:
    explicit Waiting(LockWait how) : how_(std::move(how)) {}

    /// Called at each look at a lock that others hold. Says who does after half a second, so that healthy
    /// turns are no news, and every 30 s from then on. EnvironmentError when the patience is over.
    void look(const std::filesystem::path& lock, const std::function<std::string()>& holder);
    /// Between two looks: soon at first, seldom later; not all who wait at once, and not in step.
    void pause() const;

  private:
    using Clock = std::chrono::steady_clock;
    LockWait how_;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point say_next_ = begin_ + std::chrono::milliseconds(500);
};

/// Who holds a flock on that open file, as the kernel tells: "process 123 (ranklab-io)"; "" where it does
/// not.
std::string flock_holder(int descriptor);

}  // namespace ranklab::results
