// The main of tests that run as several ranks (ranklab_add_mpi_tests). A test passes if it passes
// on every rank: after each test the results are combined over a communicator that no test uses.
// Rank 0 prints GoogleTest's output; other ranks print only their failures, with the rank. All
// ranks exit with the same code: 0, 1, or 77 if every test was skipped.
//
//   --expect-ranks=N   fail unless MPI connects N ranks: a 2-rank test that runs as two single
//   ranks tests nothing
// RANKLAB_TEST_PATIENCE=S in the environment: seconds that a rank waits for the others after a
// test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"
#include "mpi_world.hpp"

namespace ranklab::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds that a rank waits for the others after a test: a failed rank may have left them in a
// collective.
std::chrono::duration<double> patience(bool failed) {
    const char* seconds = std::getenv("RANKLAB_TEST_PATIENCE");
    if (seconds != nullptr) return std::chrono::duration<double>(std::strtod(seconds, nullptr));
    return std::chrono::seconds(failed ? 10 : 90);
}

comm::Communicator* world_of_tests = nullptr;

std::string name_of(const ::testing::TestInfo& test) {
    return fmt::format("{}.{}", test.test_suite_name(), test.name());
}

// Combines the results. A rank that passed fails, too, if another failed, so that all exit alike.
class Jury final : public ::testing::EmptyTestEventListener {
  public:
    Jury(comm::Communicator& verdicts, bool& quiet) : verdicts_(verdicts), quiet_(quiet) {}

    void OnTestEnd(const ::testing::TestInfo& test) override {
        const auto failed = failed_ranks(test);
        if (failed.empty()) return;
        quiet_ = true;
        ADD_FAILURE() << name_of(test) << " failed on rank(s) " << base::compact_ranges(failed);
        quiet_ = false;
    }

  private:
    std::vector<int> failed_ranks(const ::testing::TestInfo& test) {
        const bool mine = test.result()->Failed();
        std::vector<std::int32_t> flags(static_cast<std::size_t>(verdicts_.world_size()), 0);
        flags[static_cast<std::size_t>(verdicts_.rank())] = mine ? 1 : 0;
        comm::Request request =
            verdicts_.start_allreduce(comm::view(std::span(flags)), comm::ReduceOp::sum);
        const auto start = Clock::now();
        while (!request.test()) {
            if (Clock::now() - start > patience(mine)) give_up(test);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::vector<int> failed;
        for (std::size_t rank = 0; rank < flags.size(); ++rank) {
            if (flags[rank] != 0) failed.push_back(static_cast<int>(rank));
        }
        return failed;
    }

    [[noreturn]] void give_up(const ::testing::TestInfo& test) const {
        fmt::print(stderr,
                   "rank {}: not all ranks came to the end of {} in time; the job is ended\n",
                   verdicts_.rank(), name_of(test));
        comm::MpiEnvironment::abort(1);
    }

    comm::Communicator& verdicts_;
    bool& quiet_;  // set while this rank fails for another one's sake
};

// Replaces GoogleTest's printer on ranks above 0: prints only failures. Keeps the test's name,
// since UnitTest::current_test_info() would lock the mutex that is held while a failure is
// reported.
class FailuresOnly final : public ::testing::EmptyTestEventListener {
  public:
    FailuresOnly(int rank, const bool& quiet) : rank_(rank), quiet_(quiet) {}

    void OnTestStart(const ::testing::TestInfo& test) override { place_ = name_of(test); }
    void OnTestEnd(const ::testing::TestInfo&) override { place_ = kOutside; }
    void OnTestPartResult(const ::testing::TestPartResult& part) override {
        if (!part.failed() || quiet_) return;
        const std::string where = part.file_name() == nullptr
                                      ? "unknown place"
                                      : fmt::format("{}:{}", part.file_name(), part.line_number());
        fmt::print(stderr, "rank {}: {}: Failure in {}\n{}\n", rank_, where, place_,
                   part.message());
    }

  private:
    static constexpr const char* kOutside = "the set-up of a test suite";

    int rank_;
    const bool& quiet_;
    std::string place_ = kOutside;
};

// nullopt: option not given. -1: given without a number.
std::optional<int> expected_ranks(int argc, char** argv) {
    constexpr std::string_view kFlag = "--expect-ranks=";
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument.substr(0, kFlag.size()) != kFlag) continue;
        const auto text = argument.substr(kFlag.size());
        int ranks = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
        return error == std::errc() && end == text.data() + text.size() ? ranks : -1;
    }
    return std::nullopt;
}

void install_listeners(comm::Communicator& verdicts, bool& quiet) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (verdicts.rank() != 0) {
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresOnly(verdicts.rank(), quiet));
        GTEST_FLAG_SET(output, "");  // one rank writes the XML file
    }
    // Added last, so that it sees a test's end first and the printer prints the combined result.
    listeners.Append(new Jury(verdicts, quiet));
    // Ranks would shuffle by their clocks, and run different tests.
    if (GTEST_FLAG_GET(shuffle) && GTEST_FLAG_GET(random_seed) == 0) GTEST_FLAG_SET(random_seed, 1);
}

bool all_were_skipped(comm::Communicator& verdicts) {
    const auto& tests = *::testing::UnitTest::GetInstance();
    std::int32_t all = tests.skipped_test_count() == tests.test_to_run_count();
    verdicts.allreduce(comm::view(std::span(&all, 1)), comm::ReduceOp::min);
    return all != 0;
}

int run_on_all(comm::Communicator& world, std::optional<int> expected) {
    if (expected && *expected < 1) {
        fmt::print(stderr, "--expect-ranks=N takes a whole number of ranks\n");
        return 1;
    }
    if (expected && *expected != world.world_size()) {
        fmt::print(
            stderr,
            "rank {}: this test was started for {} ranks, but MPI connects {}; start it with the "
            "mpirun of the MPI library it was built with\n",
            world.rank(), *expected, world.world_size());
        return 1;
    }
    world_of_tests = &world;
    const auto verdicts = world.split(0, world.rank());
    bool quiet = false;
    install_listeners(*verdicts, quiet);
    const auto code = comm::agree_on_exit(*verdicts, RUN_ALL_TESTS(), 60);
    if (!code) comm::MpiEnvironment::abort(1);
    if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
        if (world.rank() == 0)
            fmt::print(stderr, "no test has the name that --gtest_filter asks for\n");
        return 1;
    }
    if (*code != 0 || !all_were_skipped(*verdicts)) return *code;
    return static_cast<int>(base::ExitCode::skipped);
}

}  // namespace

comm::Communicator& world() {
    return *world_of_tests;
}

}  // namespace ranklab::testing

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    try {
        ranklab::comm::MpiEnvironment mpi;
        return ranklab::testing::run_on_all(mpi.control(),
                                            ranklab::testing::expected_ranks(argc, argv));
    } catch (const std::exception& error) {
        fmt::print(stderr, "the test program failed outside of its tests: {}\n", error.what());
        return 1;
    }
}
