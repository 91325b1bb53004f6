// A finished run is stored, or a sentence says where it lies, and its answer is printed: whatever fails, at
// each step, and whoever ends the process there.
#include "app/delivery.hpp"
#include "app/printing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <new>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "results/keeper.hpp"
#include "results/result_file.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;
using results::in_child;
using results::sample_run;
using results::TempFolder;

const std::string kId = "20261121T101500Z-3f9a1c";
const std::string kAnswer = "the answer\n";

// Steps that write down that they were made, and then do what a test says.
struct Steps {
    std::vector<std::string> made;
    std::map<std::string, std::function<void()>> faults;
    int secured = 0;

    void make(const std::string& step) {
        made.push_back(step);
        if (faults.contains(step)) faults[step]();
    }
    DeliveryWays ways() {
        return {[this](const results::Run&) {
                    make("secure");
                    ++secured;
                    return fs::path("/place/x.pending.h5");
                },
                [this](const results::Run&, const results::LockWait&) { make("store"); },
                [this](const std::string& text) { make(text == kAnswer ? "print" : "confirm"); }};
    }
};

struct Outcome {
    int code = 0;
    std::string sentence;
};

Outcome deliver(Steps& steps, const std::string& output = "r.h5") {
    Delivery delivery(steps.ways(), output, {.patience_s = 0.1});
    try {
        delivery.deliver(sample_run(kId), {.answer = kAnswer, .epilogue = "stored\n"});
        return {};
    } catch (const base::Error& error) {
        return {static_cast<int>(error.code()), error.what()};
    }
}

const std::vector<std::string> kAll{"secure", "print", "store", "confirm"};

TEST(Delivery, SecuresPrintsStoresConfirms) {
    Steps steps;
    EXPECT_EQ(deliver(steps).code, 0);
    EXPECT_EQ(steps.made, kAll);
}

TEST(Delivery, TellsWhenTheAnswerIsPrinted) {
    for (const bool fails : {false, true}) {
        Steps steps;
        if (fails) steps.faults["print"] = [] { throw base::EnvironmentError("no room"); };
        bool answered = false;
        Delivery delivery(steps.ways(), "r.h5", {.patience_s = 0.1});
        const auto work = [&] {
            delivery.deliver(sample_run(kId), {.answer = kAnswer, .answered = [&] { answered = true; }});
        };
        if (fails)
            EXPECT_THROW(work(), base::EnvironmentError);
        else
            work();
        EXPECT_NE(answered, fails);
    }
}

TEST(Delivery, WithoutAnOutputItPrints) {
    Steps steps;
    EXPECT_EQ(deliver(steps, "none").code, 0);
    EXPECT_EQ(steps.made, (std::vector<std::string>{"print", "confirm"}));
}

// Data that nobody reads must not hold back the storing; where that fails, the data is printed all the same.
TEST(Delivery, DataComesBehindTheStoringWhateverBecameOfIt) {
    for (const bool fails : {false, true}) {
        Steps steps;
        if (fails) steps.faults["store"] = [] { throw base::EnvironmentError("no room"); };
        Delivery delivery(steps.ways(), "r.h5", {.patience_s = 0.1});
        try {
            delivery.deliver(sample_run(kId), {.data = kAnswer});
            EXPECT_FALSE(fails);
        } catch (const base::EnvironmentError&) {
            EXPECT_TRUE(fails);
        }
        const auto stored = std::ranges::find(steps.made, "store");
        ASSERT_NE(stored, steps.made.end());
        EXPECT_EQ(std::ranges::count(steps.made, "print"), 1);
        EXPECT_NE(std::find(stored, steps.made.end(), "print"), steps.made.end());
    }
}

struct Fault {
    const char* name;
    std::function<void()> thrown;
};
const Fault kFaults[] = {
    {"environment", [] { throw base::EnvironmentError("no room"); }},
    {"data", [] { throw base::DataError("damaged"); }},
    {"internal", [] { throw base::Error("a slip"); }},
    {"memory", [] { throw std::bad_alloc(); }},
    {"standard", [] { throw std::runtime_error("of a library"); }},
    {"foreign", [] { throw 7; }},
};

class FaultAt : public testing::TestWithParam<Fault> {};

TEST_P(FaultAt, SecuringIsMadeUpForByStoring) {
    Steps steps;
    steps.faults["secure"] = GetParam().thrown;
    EXPECT_EQ(deliver(steps).code, 0);
    EXPECT_EQ(steps.made, kAll);
}

TEST_P(FaultAt, PrintingIsSaidAndTheRunIsStored) {
    Steps steps;
    steps.faults["print"] = GetParam().thrown;
    const auto outcome = deliver(steps);
    EXPECT_EQ(outcome.code, 5);
    EXPECT_NE(outcome.sentence.find("the run is stored as " + kId), std::string::npos) << outcome.sentence;
    EXPECT_EQ(steps.made, (std::vector<std::string>{"secure", "print", "store"}));
}

TEST_P(FaultAt, StoringIsSaidWithThePlaceAndTheCommand) {
    Steps steps;
    steps.faults["store"] = GetParam().thrown;
    const auto outcome = deliver(steps);
    EXPECT_EQ(outcome.code, 5);
    EXPECT_NE(outcome.sentence.find("it is in /place/x.pending.h5"), std::string::npos) << outcome.sentence;
    EXPECT_NE(outcome.sentence.find("ranklab results merge r.h5 /place/x.pending.h5"), std::string::npos)
        << outcome.sentence;
    EXPECT_EQ(steps.made, (std::vector<std::string>{"secure", "print", "store"}));
}

// Securing fails too, at first.
TEST_P(FaultAt, BothIsTriedOnceMore) {
    Steps steps;
    steps.faults["store"] = GetParam().thrown;
    int tries = 0;
    steps.faults["secure"] = [&] {
        if (++tries == 1) GetParam().thrown();
    };
    const auto outcome = deliver(steps);
    EXPECT_NE(outcome.sentence.find("it is in /place/x.pending.h5"), std::string::npos) << outcome.sentence;
    EXPECT_EQ(steps.made, (std::vector<std::string>{"secure", "print", "store", "secure"}));
}

TEST_P(FaultAt, WhatWasKeptBeforeIsNamedWhereTheWholeFitsNowhere) {
    Steps steps;
    Delivery delivery(steps.ways(), "r.h5", {.patience_s = 0.1});
    delivery.keep(sample_run(kId));
    steps.faults["store"] = steps.faults["secure"] = GetParam().thrown;
    try {
        delivery.deliver(sample_run(kId), {.answer = kAnswer, .epilogue = "stored\n"});
        FAIL() << "nothing was thrown";
    } catch (const base::EnvironmentError& error) {
        const std::string sentence = error.what();
        EXPECT_NE(sentence.find("nor could it be saved alone"), std::string::npos) << sentence;
        EXPECT_NE(sentence.find("/place/x.pending.h5"), std::string::npos) << sentence;
    }
}

TEST_P(FaultAt, KeepingAPartIsNoReasonToStop) {
    Steps steps;
    steps.faults["secure"] = GetParam().thrown;
    Delivery delivery(steps.ways(), "r.h5", {.patience_s = 0.1});
    delivery.keep(sample_run(kId));
    EXPECT_EQ(steps.made, std::vector<std::string>{"secure"});
}

INSTANTIATE_TEST_SUITE_P(All, FaultAt, testing::ValuesIn(kFaults),
                         [](const auto& one) { return std::string(one.param.name); });

// The same with the real steps, in a process that something happens to at one of them.
struct Happening {
    const char* name;
    std::function<void()> happen;
};

void limit_file_sizes() {
    const rlimit none{4096, 4096};  // what is said has room, a run has not
    ::setrlimit(RLIMIT_FSIZE, &none);
}

class Real : public testing::Test {
  protected:
    const TempFolder folder;
    const TempFolder temporary;
    const fs::path output = folder / "r.h5";

    // `after`: when the step is made, not before.
    int deliver_with(const std::string& step, bool after, const std::function<void()>& happen,
                     double patience_s = 0.1) const {
        const auto keeper = std::make_shared<results::Keeper>(output);
        const auto around = [&](const std::string& name, auto work) {
            if (name == step && !after) happen();
            work();
            if (name == step && after) happen();
        };
        DeliveryWays ways{[&](const results::Run& run) {
                              around("secure", [&] { keeper->secure(run); });
                              return keeper->path();
                          },
                          [&](const results::Run& run, const results::LockWait& wait) {
                              around("store", [&] { keeper->store(run, wait); });
                          },
                          [&](const std::string& text) {
                              around(text == kAnswer ? "print" : "confirm", [&] { print_whole(text); });
                          }};
        Delivery delivery(std::move(ways), output.string(), {.patience_s = patience_s});
        try {
            delivery.deliver(sample_run(kId), {.answer = kAnswer, .epilogue = "stored\n"});
            return 0;
        } catch (const base::Error& error) {
            std::fprintf(stderr, "%s\n", error.what());
            return static_cast<int>(error.code());
        }
    }

    // Of the process that has ended: on its stdout and stderr, and on the disk.
    struct Left {
        std::string out, err;
        std::size_t stored = 0, pending = 0, rescued = 0;
        bool on_disk() const { return stored + pending + rescued > 0; }
        std::string text(int code) const {
            return fmt::format("code {}, stored {}, pending {}, rescued {}\nout: {}\nerr: {}", code, stored,
                               pending, rescued, out, err);
        }
    };
    bool place_is_told(const Left& left) const {
        const auto& place = left.pending > 0 ? folder : temporary;
        return left.err.find("it is in " + place.path().string()) != std::string::npos &&
               left.err.find("ranklab results merge") != std::string::npos;
    }
    Left look() const {
        Left left{results::bytes_of(folder / "out"), results::bytes_of(folder / "err"), 0, 0, 0};
        if (fs::exists(output)) left.stored = results::ResultFile(output).runs().size();
        left.pending = results::left_behind(output).size();
        for (const auto& place : fs::directory_iterator(temporary.path())) {
            const fs::path file = place.path() / (kId + ".h5");
            if (fs::exists(file)) left.rescued += results::ResultFile(file).runs().size();
        }
        return left;
    }

    int run_in_child(const std::function<int()>& body) const {
        return in_child([&] {
            ::alarm(60);
            ::setenv("TMPDIR", temporary.path().c_str(), 1);
            static_cast<void>(std::freopen((folder / "out").c_str(), "w", stdout));
            static_cast<void>(std::freopen((folder / "err").c_str(), "w", stderr));
            ::setvbuf(stderr, nullptr, _IONBF, 0);  // the child ends without flushing
            ::signal(SIGXFSZ, SIG_IGN);
            base::LastWords::listen_to_signals();
            return body();
        });
    }
};

// Held by the test's own process.
class Held {
  public:
    explicit Held(const fs::path& output)
        : file_(::open((output.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        EXPECT_EQ(::flock(file_.get(), LOCK_EX), 0);
    }

  private:
    base::Descriptor file_;
};

TEST_F(Real, ALockThatIsHeldLeavesItAlone) {
    const Held held(output);
    const int code = run_in_child([&] { return deliver_with("", false, {}); });
    const auto left = look();
    EXPECT_EQ(code, 5) << left.text(code);
    EXPECT_EQ(left.pending, 1U) << left.text(code);
    EXPECT_NE(left.out.find(kAnswer), std::string::npos);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
}

// The patience is longer than the test may take.
TEST_F(Real, ASignalEndsTheWaitingForTheLock) {
    const Held held(output);
    const int code = run_in_child([&] {
        return deliver_with(
            "store", false, [] { ::raise(SIGTERM); }, 3600);
    });
    const auto left = look();
    EXPECT_EQ(code, 128 + SIGTERM) << left.text(code);
    EXPECT_EQ(left.pending, 1U) << left.text(code);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
    EXPECT_NE(left.err.find("stopped by SIGTERM"), std::string::npos) << left.text(code);
}

TEST_F(Real, WhatFitsNowhereIsPrintedAndSaid) {
    const int code = run_in_child([&] { return deliver_with("secure", false, limit_file_sizes); });
    const auto left = look();
    EXPECT_EQ(code, 5) << left.text(code);
    EXPECT_NE(left.out.find(kAnswer), std::string::npos) << left.text(code);
    EXPECT_NE(left.err.find("could not be saved anywhere"), std::string::npos) << left.text(code);
}

TEST_F(Real, ADiskThatFillsWhenItIsSecured) {
    const int code = run_in_child([&] { return deliver_with("secure", true, limit_file_sizes); });
    const auto left = look();
    EXPECT_EQ(code, 5) << left.text(code);
    EXPECT_EQ(left.pending, 1U) << left.text(code);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
}

// A part was kept; the work then fails, or is ended from outside.
TEST_F(Real, WhatWasKeptIsToldWhenTheWorkFails) {
    const int code = run_in_child([&] {
        Delivery delivery(output.string(), {.patience_s = 0.1});
        delivery.keep(sample_run(kId));
        return 3;
    });
    const auto left = look();
    EXPECT_EQ(left.pending, 1U) << left.text(code);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
}

TEST_F(Real, WhatWasKeptIsToldWhenASignalEndsTheWork) {
    const int code = run_in_child([&] {
        Delivery delivery(output.string(), {.patience_s = 0.1});
        delivery.keep(sample_run(kId));
        ::raise(SIGTERM);
        return 0;
    });
    const auto left = look();
    EXPECT_EQ(code, -SIGTERM) << left.text(code);
    EXPECT_EQ(left.pending, 1U) << left.text(code);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
}

class RealAt : public Real, public testing::WithParamInterface<std::tuple<Happening, const char*, bool>> {};

// The promise: what was printed or told of is on the disk, and, but for a kill, the place is told.
TEST_P(RealAt, NothingThatWasSaidIsLost) {
    const auto& [happening, step, after] = GetParam();
    const bool killed = std::string_view(happening.name) == "kill";
    const int code = run_in_child(
        [&, &happen = happening.happen, &at = step, late = after] { return deliver_with(at, late, happen); });
    const auto left = look();
    const bool nothing_yet = killed && std::string_view(step) == "secure" && !after;
    EXPECT_EQ(left.on_disk(), !nothing_yet) << left.text(code);
    EXPECT_EQ(code == -SIGKILL, killed) << left.text(code);
    if (killed) {
        EXPECT_TRUE(!nothing_yet || left.out.empty()) << left.text(code);
        return;
    }
    const bool may_be_unprinted = std::string_view(step) == "print";
    EXPECT_TRUE(may_be_unprinted || left.out.find(kAnswer) != std::string::npos) << left.text(code);
    if (left.stored > 0) return;
    EXPECT_NE(code, 0) << left.text(code);
    EXPECT_TRUE(place_is_told(left)) << left.text(code);
}

INSTANTIATE_TEST_SUITE_P(Steps, RealAt,
                         testing::Combine(testing::Values(Happening{"kill", [] { ::raise(SIGKILL); }},
                                                          Happening{"term", [] { ::raise(SIGTERM); }},
                                                          Happening{"memory", [] { throw std::bad_alloc(); }},
                                                          Happening{"odd", [] { throw 7; }}),
                                          testing::Values("secure", "print", "store", "confirm"),
                                          testing::Bool()),
                         [](const auto& one) {
                             return fmt::format("{}_{}_{}", std::get<0>(one.param).name,
                                                std::get<2>(one.param) ? "after" : "before",
                                                std::get<1>(one.param));
                         });

}  // namespace
}  // namespace ranklab::app
