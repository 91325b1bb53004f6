// The first strategy: a loop over rows and columns, one value at a time, as text. What a scalar language
// does, at the speed of a compiled one.
#include "base/numbers.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

class TextLoop final : public FileStrategy {
  public:
    TextLoop(const Job& job, const Place& place) : FileStrategy(job, place, Encoding::text) {}

    void write() override {
        const Grid grid(job().size);
        RecordWriter writer(job(), Encoding::text, place().times);
        Values values(job().values_per_record());
        for (std::int64_t id = 0; id < job().files; ++id) {
            const auto begin = base::IoTimes::Clock::now();
            generate(id, grid, values);
            writer.write(id, values);
            end_record(begin, writer);
        }
    }

  private:
    void generate(std::int64_t id, const Grid& grid, Values& values) const {
        const auto mark = place().times.phase(base::IoPhase::generate);
        const double n = base::real(job().files);
        const double t = base::real(id);
        std::size_t i = 0;
        for (const double x : grid.x) {
            for (const double y : grid.y) values[i++] = value_at(x, y, n, t);
        }
    }
};

}  // namespace

StrategyEntry text_loop_entry() {
    return {.name = "text-loop",
            .summary = "one process, a loop over every value, text files",
            .order = Order::by_x,
            .extension = ".txt",
            .bytes_per_record = text_bytes,
            .make = make_strategy<TextLoop>};
}

}  // namespace ranklab::io
