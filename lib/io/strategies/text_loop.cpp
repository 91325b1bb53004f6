// A compiled loop over rows and columns computes one value at a time; the records are text.
#include "base/numbers.hpp"
#include "io/file_strategy.hpp"

namespace ranklab::io {
namespace {

class TextLoop final : public ArrayStrategy {
  public:
    using ArrayStrategy::ArrayStrategy;

  private:
    void generate(const Grid& grid, std::int64_t id, std::span<double> values) const override {
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
            .baseline = true,
            .extension = ".txt",
            .bytes_per_value = 25,
            .make = make_strategy<TextLoop, Encoding::text>};
}

}  // namespace ranklab::io
