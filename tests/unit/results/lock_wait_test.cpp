// Waiting for a results file's lock: bounded, with the holder's name, and never for something that is no
// lock.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <stdexcept>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "results/file_lock.hpp"
#include "results/result_file.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using tests::thrown_sentence;

const LockWait kShort{0.2};

// A process that holds the lock until it is ended.
class Holder : base::Pinned {
  public:
    explicit Holder(const std::function<void()>& take) {
        int ready[2];
        if (::pipe(ready) != 0) throw std::runtime_error("pipe");
        child_ = start_child([&] {
            take();
            static_cast<void>(::write(ready[1], "r", 1) == 1);
            for (;;) ::pause();
            return 0;
        });
        char byte = 0;
        static_cast<void>(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~Holder() {
        ::kill(child_, SIGKILL);
        wait_for(child_);
    }

    pid_t pid() const { return child_; }
    void stop() const {
        ::kill(child_, SIGSTOP);
        int status = 0;
        ::waitpid(child_, &status, WUNTRACED);
    }

  private:
    pid_t child_ = 0;
};

void flock_for_ever(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
    if (::flock(file, LOCK_EX) != 0) throw std::runtime_error("flock");
}

TEST(LockWait, EndsWithTheHoldersNameAndTheFileIsWhatItWas) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(sample_run("first"));
    const std::string before = bytes_of(folder / "r.h5");
    const Holder holder([&] { flock_for_ever(folder / "r.h5.lock"); });
    const auto sentence =
        thrown_sentence<base::EnvironmentError>([&] { file.append(sample_run("second"), kShort); });
    EXPECT_NE(sentence.find("process " + std::to_string(holder.pid())), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("r.h5.lock"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("--lock-timeout"), std::string::npos) << sentence;
    EXPECT_EQ(bytes_of(folder / "r.h5"), before);
}

// Whoever waits for a time of its own does not send the user to an option that would change nothing.
TEST(LockWait, SaysWhatSetTheTime) {
    const TempFolder folder;
    const Holder holder([&] { flock_for_ever(folder / "r.h5.lock"); });
    auto wait = kShort;
    wait.because = "after a failure it is not waited for longer";
    const auto sentence = thrown_sentence<base::EnvironmentError>(
        [&] { ResultFile(folder / "r.h5").append(sample_run("second"), wait); });
    EXPECT_NE(sentence.find("(after a failure it is not waited for longer)"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("--lock-timeout"), std::string::npos) << sentence;
}

TEST(LockWait, ShortenedSaysWhyOnlyWhereItIs) {
    const LockWait wait{.patience_s = 1, .beat = {}};
    const auto half = wait.shortened(0.5, "in haste");
    EXPECT_EQ(half.patience_s, 0.5);
    EXPECT_EQ(half.because, "in haste");
    const auto same = wait.shortened(2, "in haste");
    EXPECT_EQ(same.patience_s, 1);
    EXPECT_EQ(same.because, "");
}

TEST(LockWait, SaysThatTheHolderIsStopped) {
    const TempFolder folder;
    const Holder holder([&] {
        static auto* const waiting = new Waiting(LockWait{});
        static auto* const lock = new FileLock(folder / "r.h5", *waiting);
        static_cast<void>(lock);
    });
    holder.stop();
    const auto sentence = thrown_sentence<base::EnvironmentError>(
        [&] { ResultFile(folder / "r.h5").append(sample_run("x"), kShort); });
    EXPECT_NE(sentence.find("which is stopped"), std::string::npos) << sentence;
}

// Where flock reaches nobody, the other lock's owner is named.
TEST(LockWait, NamesTheOwnerOfTheOtherLockToo) {
    const TempFolder folder;
    const Owner self = Owner::self();  // lives, so its lock is not taken away
    write_bytes(folder / "r.h5.owner.lock", self.text());
    const auto sentence = thrown_sentence<base::EnvironmentError>(
        [&] { ResultFile(folder / "r.h5").append(sample_run("x"), kShort); });
    EXPECT_NE(sentence.find(self.name()), std::string::npos) << sentence;
}

TEST(LockWait, WhatTheBeatThrowsEndsIt) {
    const TempFolder folder;
    const Holder holder([&] { flock_for_ever(folder / "r.h5.lock"); });
    int beats = 0;
    const LockWait wait{.patience_s = 60, .beat = [&] {
                            if (++beats == 3) throw base::Interrupted("asked to stop", SIGTERM);
                        }};
    EXPECT_EQ(thrown_sentence<base::Interrupted>(
                  [&] { ResultFile(folder / "r.h5").append(sample_run("x"), wait); }),
              "asked to stop");
    EXPECT_FALSE(fs::exists(folder / "r.h5"));
}

TEST(LockWait, ItIsStoredWhenTheHolderLetsGo) {
    const TempFolder folder;
    auto holder = std::make_unique<Holder>([&] { flock_for_ever(folder / "r.h5.lock"); });
    int beats = 0;
    const LockWait wait{.patience_s = 60, .beat = [&] {
                            if (++beats == 3) holder.reset();
                        }};
    ResultFile(folder / "r.h5").append(sample_run("x"), wait);
    EXPECT_EQ(ResultFile(folder / "r.h5").runs().size(), 1U);
}

void make_socket(const fs::path& path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("bind");
    ::close(socket);
}

struct Kind {
    const char* name;
    const char* said;
    void (*make)(const fs::path&);
};

// In a child that an alarm ends, should it wait or go in circles.
class NoLock : public testing::TestWithParam<std::tuple<Kind, const char*>> {};

TEST_P(NoLock, IsRefusedAtOnceAndLeadsNowhere) {
    const auto& [kind, ending] = GetParam();
    const TempFolder folder;
    const fs::path lock = (folder / "r.h5").string() + ending;
    kind.make(lock);
    for (const bool prepares : {true, false}) {
        EXPECT_EQ(in_child([&] {
                      ::alarm(20);
                      const ResultFile file(folder / "r.h5");
                      const auto sentence = thrown_sentence<base::EnvironmentError>(
                          [&] { prepares ? file.prepare(1000) : file.append(sample_run("x")); });
                      std::fprintf(stderr, "%s\n", sentence.c_str());
                      return sentence.find(lock.string() + " is " + kind.said) != std::string::npos ? 0 : 1;
                  }),
                  0)
            << (prepares ? "prepare" : "append");
    }
    EXPECT_FALSE(fs::exists(folder / "r.h5"));
    EXPECT_FALSE(fs::exists(folder / "target")) << "what a link leads to was made";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NoLock,
    testing::Combine(
        testing::Values(Kind{"dangling", "a symbolic link",
                             [](const fs::path& p) { fs::create_symlink(p.parent_path() / "target", p); }},
                        Kind{"loop", "a symbolic link", [](const fs::path& p) { fs::create_symlink(p, p); }},
                        Kind{"to_zero", "a symbolic link",
                             [](const fs::path& p) { fs::create_symlink("/dev/zero", p); }},
                        Kind{"fifo", "a FIFO",
                             [](const fs::path& p) { static_cast<void>(::mkfifo(p.c_str(), 0666) == 0); }},
                        Kind{"folder", "a folder", [](const fs::path& p) { fs::create_directory(p); }},
                        Kind{"socket", "a socket", make_socket}),
        testing::Values(".lock", ".owner.lock")),
    [](const auto& one) {
        return std::string(std::get<0>(one.param).name) +
               (std::string_view(std::get<1>(one.param)) == ".lock" ? "_flock" : "_owner");
    });

}  // namespace
}  // namespace ranklab::results
