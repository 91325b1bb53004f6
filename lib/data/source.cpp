#include "data/source.hpp"

#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/clock.hpp"

namespace ranklab::data {

std::string data_root(const std::string& directory) {
    if (!directory.empty()) return directory;
    const char* const set = std::getenv("RANKLAB_DATA");
    return set == nullptr ? "" : set;
}

namespace {

double thread_cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return base::real(now.tv_sec) + 1e-9 * base::real(now.tv_nsec);
}

class Costly final : public Source {
  public:
    Costly(std::shared_ptr<const Source> source, double cost_s)
        : Source(source->layout(), source->size()), source_(std::move(source)), cost_s_(cost_s) {}
    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        source_->read(draw, input, target, times);
        const auto start = base::Clock::now();
        const double end = thread_cpu_seconds() + cost_s_;
        while (thread_cpu_seconds() < end) {
        }
        times.decode += base::seconds_since(start);
    }

  private:
    std::shared_ptr<const Source> source_;
    double cost_s_;
};

}  // namespace

std::shared_ptr<const Source> costly(std::shared_ptr<const Source> source, std::int64_t cost_us) {
    if (cost_us == 0) return source;
    return std::make_shared<Costly>(std::move(source), 1e-6 * base::real(cost_us));
}

std::uint64_t random_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position) {
    const auto mixed = [](std::uint64_t x) { return mix64(x + kGolden64); };
    return mixed(mixed(mixed(seed) ^ static_cast<std::uint64_t>(epoch)) ^
                 static_cast<std::uint64_t>(position));
}

ReadTimes& ReadTimes::operator+=(const ReadTimes& other) {
    read += other.read;
    decode += other.decode;
    augment += other.augment;
    return *this;
}

}  // namespace ranklab::data
