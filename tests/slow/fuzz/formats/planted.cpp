#include <fmt/format.h>
#include <signal.h>

#include <stdexcept>

#include "app/guarded.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "fuzz/formats/all.hpp"
#include "hdf5/library_use.hpp"

namespace ranklab::fuzz {
namespace {

volatile std::size_t sink = 0;

void fill_memory(std::size_t bytes) {
    const std::vector<char> much(bytes, 'x');
    sink = sink + static_cast<std::size_t>(much[bytes / 2]);
}

void crash_at_work() {
    const hdf5::LibraryUse use("planted");
    ::raise(SIGSEGV);
}

int fail_as(char fault) {
    switch (fault) {
        case 'c':
            ::raise(SIGSEGV);
            break;
        case 't':
            crash_at_work();
            break;
        case 'h':
            while (true) sink = sink + 1;
        case 'i':
            throw std::runtime_error("of another family");
        case 'm':
            fill_memory(std::size_t{120} << 20U);
            break;
        case 's':
            base::log::error("one sentence");
            throw base::DataError("and another");
        case 'u':
            return 42;
        case 'q':
            return 3;
        default:
            break;
    }
    return 0;
}

// Each byte is a fault, or none: 'c' crashes, 'h' hangs, 'i' ends with 1, 'm' takes 120 MiB, 's' says two
// sentences, 't' crashes while HDF5 is at work, 'u' ends with an unlisted code, 'q' fails without a word.
class Planted final : public Format {
  public:
    std::string name() const override { return "planted"; }
    std::size_t bases() const override { return 1; }
    Input make(Random&, const std::filesystem::path&) const override { return {"fault", "-"}; }
    void edit(Input& input, Random& random, std::span<const Input>,
              const std::filesystem::path&) const override {
        constexpr std::string_view kFaults = "chimsuqt-------";
        input.bytes = kFaults[random.below(kFaults.size())];
    }
    void attempt(const Input& input, Random&, const std::filesystem::path&, Judge& judge) const override {
        judge.expect("planted " + input.bytes, {0, 3},
                     [&] { return app::guarded([&] { return fail_as(input.bytes.front()); }); });
    }
};

}  // namespace

std::unique_ptr<Format> planted_format() {
    return std::make_unique<Planted>();
}

}  // namespace ranklab::fuzz
