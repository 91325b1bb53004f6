#include "fuzz/crew.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "fuzz/worker.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr auto kGlance = std::chrono::milliseconds(10);

bool fails_alike(const Mutants& mutants, const Found& found, std::uint32_t edits, const Limits& limits,
                 const fs::path& folder) {
    Worker worker(mutants, limits, folder);
    Tally tally;
    worker.start(found.number, found.number + 1, edits);
    while (worker.busy())
        if (!worker.look(tally)) std::this_thread::sleep_for(kGlance);
    for (const auto& again : tally.found)
        if (again.failure.kind == found.failure.kind) return true;
    return false;
}

}  // namespace

Tally run_all(const Mutants& mutants, std::size_t first, std::size_t end, std::size_t jobs,
              const Limits& limits, const fs::path& folder) {
    Tally tally;
    tally.run = end - first;
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t i = 0; i < jobs; ++i)
        workers.push_back(std::make_unique<Worker>(mutants, limits, folder / std::to_string(i)));
    bool working = true;
    while (working) {
        working = false;
        for (auto& worker : workers) {
            if (worker->busy()) worker->look(tally);
            if (!worker->busy() && first < end) {
                const std::size_t last = std::min(end, first + limits.batch);
                worker->start(first, last);
                first = last;
            }
            working = working || worker->busy();
        }
        std::this_thread::sleep_for(kGlance);
    }
    return tally;
}

void minimise(const Mutants& mutants, Found& found, const Limits& limits, const fs::path& folder) {
    std::uint32_t needed = (1U << mutants.edits(found.number)) - 1;
    if (!fails_alike(mutants, found, needed, limits, folder)) return;  // chance is in it: leave it whole
    for (std::uint32_t bit = 1; bit <= needed; bit <<= 1U)
        if ((needed & bit) != 0 && fails_alike(mutants, found, needed & ~bit, limits, folder)) needed &= ~bit;
    found.edits = needed;
}

}  // namespace ranklab::fuzz
