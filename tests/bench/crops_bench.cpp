// Samples/s of ranklab's loader on crops of a volume file, without training, for unet_crops.py.
//   crops_bench FILE [workers=1] [batch=8] [batches=40] [access=automatic] [rotate=1] [edge=64]
//   [repeats=1]
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "data/loader.hpp"
#include "data/sources/cosmology.hpp"

namespace {

using namespace ranklab::data;
using Clock = std::chrono::steady_clock;

struct Answer {
    double seconds = 0;
    ReadTimes times;
    double first = 0;  ///< sum of values read, so that the compiler keeps the reads
};

Answer measure(Loader& loader, std::int64_t batch, std::int64_t batches, std::uint64_t seed) {
    const auto plan = [&](std::int64_t b) {
        std::vector<Draw> draws;
        for (std::int64_t i = 0; i < batch; ++i)
            draws.push_back({i, random_of(seed, 0, b * batch + i)});
        return draws;
    };
    Answer answer;
    const auto start = Clock::now();
    loader.start(plan, 0, batches);
    for (std::int64_t b = 0; b < batches; ++b) {
        const Batch& made = loader.next();
        answer.times += made.times;
        answer.first += *reinterpret_cast<const float*>(made.input.get());
    }
    answer.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return answer;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto word = [&](int i, const char* usual) {
            return std::string(i < argc ? argv[i] : usual);
        };
        const auto number = [&](int i, const char* usual) { return std::stoll(word(i, usual)); };
        const auto workers = static_cast<int>(number(2, "1"));
        const auto batch = number(3, "8");
        const auto batches = number(4, "40");
        const auto file =
            std::make_shared<const VolumeFile>(word(1, ""), word(5, "lowmem") == "inmem");
        const bool rotate = number(6, "1") != 0;
        const auto source = crop_source(file, {number(7, "64"), batch * batches, rotate, false});
        Loader loader(*source, {.workers = workers, .prefetch = 2, .batch = batch, .allocate = {}});
        measure(loader, batch, batches, 1);  // allocates the batches and maps the file's pages
        for (std::int64_t i = 0; i < number(8, "1"); ++i) {
            const auto answer = measure(loader, batch, batches, 2 + static_cast<std::uint64_t>(i));
            const auto samples = static_cast<double>(batch * batches);
            fmt::print("samples/s {:.1f} read_ms {:.3f} augment_ms {:.3f} access {}\n",
                       samples / answer.seconds, answer.times.read / samples * 1e3,
                       answer.times.augment / samples * 1e3, file->how());
            std::fflush(stdout);
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
    return 0;
}
