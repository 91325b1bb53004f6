// The locks of a results file where the file system does not help: flock missing, or reaching no other host.
// A seccomp filter plays that file system, in forked processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <span>
#include <thread>

#include "base/error.hpp"
#include "results/file_lock.hpp"
#include "results/replace.hpp"
#include "results/result_file.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kCannot = 77;
constexpr OwnerLock::Pace kFast{50ms, 500ms};

// From now on every such system call of this process does nothing and answers `error` (0: "it went well").
bool answer_for(long system_call, unsigned error) {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the call is the first word
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(system_call), 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{filter.size(), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class OwnerLockTest : public testing::Test {
  protected:
    Waiting waiting{LockWait{}};
};

std::string owner_file(const fs::path& target) {
    return target.string() + ".owner.lock";
}

void leave_lock_of(const fs::path& target, Owner owner) {
    write_bytes(owner_file(target), owner.text());
}

Owner on_another_host() {
    Owner owner = Owner::self();
    owner.host = "node99";
    owner.kernel = "another-boot";
    return owner;
}

std::set<std::string> stored_ids(const fs::path& path) {
    std::set<std::string> ids;
    for (const auto& run : ResultFile(path).runs()) ids.insert(run.id);
    return ids;
}

// `mounted` is a second mount of the folder, for every other writer.
int write_runs(const fs::path& folder, const fs::path& mounted, unsigned flock_error, int writer, int runs) {
    if (!answer_for(SYS_flock, flock_error)) return kCannot;
    for (int i = 0; i < runs; ++i)
        ResultFile((writer % 2 == 0 ? folder : mounted) / "r.h5")
            .append(sample_run(std::to_string(writer) + "-" + std::to_string(i)));
    return 0;
}

// All in one child, which sees the second mount alone.
int writers_through_two_mounts(const fs::path& folder, const fs::path& mounted, unsigned flock_error) {
    constexpr int kWriters = 6;
    constexpr int kRuns = 8;
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(folder.c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return kCannot;
    std::vector<pid_t> children;
    for (int writer = 0; writer < kWriters; ++writer)
        children.push_back(
            start_child([&] { return write_runs(folder, mounted, flock_error, writer, kRuns); }));
    int worst = 0;
    for (const pid_t child : children)
        if (const int code = wait_for(child); code != 0) worst = code;
    if (worst != 0) return worst;
    return stored_ids(folder / "r.h5").size() == std::size_t{kWriters} * kRuns ? 0 : 1;
}

class WithoutFlock : public testing::TestWithParam<unsigned> {};

TEST_P(WithoutFlock, ManyWritersThroughTwoMountsLoseNothing) {
    const TempFolder folder;
    const TempFolder mounted;
    const int code =
        in_child([&] { return writers_through_two_mounts(folder.path(), mounted.path(), GetParam()); });
    if (code == kCannot) GTEST_SKIP() << "no right to mount a folder twice, or no seccomp here";
    EXPECT_EQ(code, 0);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"});
    EXPECT_FALSE(fs::exists(owner_file(folder / "r.h5")));
}

// No flock at all; and flock that always succeeds, as between hosts that each lock for themselves.
INSTANTIATE_TEST_SUITE_P(Answers, WithoutFlock, testing::Values(ENOLCK, ENOSYS, EOPNOTSUPP, 0U));

TEST(WithoutHardLinks, TheLockIsMadeInPlace) {
    const TempFolder folder;
    const fs::path path = folder / "r.h5";
    std::vector<pid_t> children;
    for (int writer = 0; writer < 3; ++writer) {
        children.push_back(start_child([&] {
            const bool set = answer_for(SYS_link, EPERM) && answer_for(SYS_linkat, EPERM);
            return set ? write_runs(folder.path(), folder.path(), 0, writer, 5) : kCannot;
        }));
    }
    for (const pid_t child : children) {
        const int code = wait_for(child);
        if (code == kCannot) GTEST_SKIP() << "no seccomp here";
        EXPECT_EQ(code, 0);
    }
    EXPECT_EQ(stored_ids(path).size(), 15U);
}

TEST(OwnerText, ComesBackAndKnowsTheLiving) {
    const Owner self = Owner::self();
    const auto back = Owner::parse(self.text());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->text(), self.text());
    EXPECT_EQ(back->state(), Owner::State::alive);
    EXPECT_EQ(on_another_host().state(), Owner::State::elsewhere);
    Owner in_another_container = self;
    in_another_container.pid_space = "pid:[1]";
    EXPECT_EQ(in_another_container.state(), Owner::State::elsewhere);
    for (const char* text : {"", "host", "host a\nkernel b\n", "kernel b\nhost a\n"})
        EXPECT_FALSE(Owner::parse(text)) << text;
}

TEST(OwnerText, OfAProcessThatEndedIsDead) {
    Owner owner = Owner::self();
    owner.start = "1";  // the pid came again
    EXPECT_EQ(owner.state(), Owner::State::dead);
    const pid_t child = start_child([] { return 0; });
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    owner.pid = child;
    EXPECT_EQ(owner.state(), Owner::State::dead) << "ended, though its parent has not asked yet";
    wait_for(child);
    EXPECT_EQ(owner.state(), Owner::State::dead);
}

TEST_F(OwnerLockTest, OfADeadProcessIsTakenAtOnce) {
    const TempFolder folder;
    Owner dead = Owner::self();
    dead.start = "1";
    leave_lock_of(folder / "x", dead);
    const OwnerLock lock(folder / "x", waiting, {50ms, 10min});
    EXPECT_TRUE(lock.still_ours());
    EXPECT_TRUE(folder.names().empty());
}

TEST_F(OwnerLockTest, OfASilentHostIsTakenWhenItIsStale) {
    const TempFolder folder;
    leave_lock_of(folder / "x", on_another_host());
    const auto start = std::chrono::steady_clock::now();
    const OwnerLock lock(folder / "x", waiting, kFast);
    EXPECT_GE(std::chrono::steady_clock::now() - start, kFast.stale);
    EXPECT_TRUE(lock.still_ours());
}

// Nobody here knows whether it still works: nothing else is said.
TEST_F(OwnerLockTest, OfAnotherHostIsSaidToBeWhatCanBeSeenOfIt) {
    const TempFolder folder;
    leave_lock_of(folder / "x", on_another_host());
    const std::string name = on_another_host().name();
    const auto sentence = tests::thrown_sentence<base::EnvironmentError>([&] {
        Waiting impatient(LockWait{.patience_s = 0.1});
        const OwnerLock lock(folder / "x", impatient, {50ms, 10min});
    });
    EXPECT_TRUE(sentence.starts_with(name + " (so the lock says; " + Owner::self().host +
                                     " cannot see whether that still works) has held "))
        << sentence;
    testing::internal::CaptureStderr();
    static_cast<void>(OwnerLock(folder / "x", waiting, kFast).still_ours());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(name + " has not refreshed its lock "), std::string::npos) << said;
    EXPECT_NE(said.find("cannot see whether it still works"), std::string::npos) << said;
}

TEST_F(OwnerLockTest, WithoutAnOwnerIsTakenWhenItIsStale) {
    const TempFolder folder;
    write_bytes(owner_file(folder / "x"), "");
    EXPECT_TRUE(OwnerLock(folder / "x", waiting, kFast).still_ours());
}

// The holder beats; it says that it is elsewhere, so that nothing but the beats speaks for it.
TEST_F(OwnerLockTest, OfAHostThatBeatsIsLeftAlone) {
    const TempFolder folder;
    const fs::path path = owner_file(folder / "x");
    leave_lock_of(folder / "x", on_another_host());
    std::jthread heart([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
            std::this_thread::sleep_for(kFast.beat);
        }
    });
    std::jthread end([&] {
        std::this_thread::sleep_for(3 * kFast.stale);
        heart.request_stop();
        fs::remove(path);
    });
    const auto start = std::chrono::steady_clock::now();
    const OwnerLock lock(folder / "x", waiting, kFast);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 3 * kFast.stale);
}

TEST_F(OwnerLockTest, BeatsWhileItIsHeld) {
    const TempFolder folder;
    const OwnerLock lock(folder / "x", waiting, kFast);
    const auto first = fs::last_write_time(owner_file(folder / "x"));
    for (int i = 0; i < 500 && fs::last_write_time(owner_file(folder / "x")) == first; ++i)
        std::this_thread::sleep_for(20ms);
    EXPECT_GT(fs::last_write_time(owner_file(folder / "x")), first);
}

TEST_F(OwnerLockTest, ThatOthersTookIsSeenAsLostAndLeftToThem) {
    const TempFolder folder;
    const std::string theirs = on_another_host().text();
    {
        const OwnerLock lock(folder / "x", waiting);
        EXPECT_TRUE(lock.still_ours());
        fs::remove(owner_file(folder / "x"));
        EXPECT_FALSE(lock.still_ours());
        write_bytes(owner_file(folder / "x"), theirs);
        EXPECT_FALSE(lock.still_ours());
    }
    EXPECT_EQ(bytes_of(owner_file(folder / "x")), theirs);
}

// Adds one to the number in the file, and leaves a dead lock behind where the next has not come yet.
void count_up(const TempFolder& folder, int process) {
    const fs::path path = folder / "count";
    replace(path, [&](const Staging& staging) {
        const std::string text = std::to_string(staging.fresh ? 1 : std::stoi(bytes_of(path)) + 1);
        staging.staged.write(std::as_bytes(std::span(text)));
    });
    Owner dead = Owner::self();
    dead.start = "1";
    const fs::path aside = folder / ("dead" + std::to_string(process));
    write_bytes(aside, dead.text());
    static_cast<void>(::link(aside.c_str(), owner_file(path).c_str()) == 0);
    fs::remove(aside);
}

// Many come upon dead locks at the same time, and nothing else keeps them apart.
TEST_F(OwnerLockTest, DeadOnesAreBrokenAndNoChangeIsLost) {
    const TempFolder folder;
    constexpr int kProcesses = 8;
    constexpr int kRounds = 25;
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
        children.push_back(start_child([&] {
            if (!answer_for(SYS_flock, 0)) return kCannot;
            for (int round = 0; round < kRounds; ++round) count_up(folder, process);
            return 0;
        }));
    }
    for (const pid_t child : children) {
        const int code = wait_for(child);
        if (code == kCannot) GTEST_SKIP() << "no seccomp here";
        EXPECT_EQ(code, 0);
    }
    EXPECT_EQ(bytes_of(folder / "count"), std::to_string(kProcesses * kRounds));
}

TEST(Replace, StartsAgainWhereTheFileChangedMeanwhile) {
    const TempFolder folder;
    const fs::path path = folder / "x";
    write_bytes(path, "old");
    int calls = 0;
    replace(path, [&](const Staging& staging) {
        staging.staged.copy_target();
        if (++calls == 1) {
            write_bytes(folder / "other", "theirs");
            fs::rename(folder / "other", path);
        }
        staging.staged.write(std::as_bytes(std::span(" + ours", 7)));
    });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(bytes_of(path), "theirs + ours");
}

TEST(Replace, StartsAgainWhereTheLockWasLost) {
    const TempFolder folder;
    const fs::path path = folder / "x";
    int calls = 0;
    replace(path, [&](const Staging& staging) {
        if (++calls == 1) fs::remove(owner_file(path));
        staging.staged.write(std::as_bytes(std::span("ours", 4)));
    });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(bytes_of(path), "ours");
}

}  // namespace
}  // namespace ranklab::results
