// The third rung: the same numbers as they lie in memory, in NumPy's npy files.
#include "io/file_rung.hpp"

namespace ranklab::io {
namespace {

class Binary final : public FileRung {
  public:
    Binary(const Job& job, const Place& place) : FileRung(job, place, Encoding::npy) {}

    void write() override {
        const Grid grid(job().size);
        RecordWriter writer(job(), Encoding::npy, place().times);
        std::vector<double> values;
        for (std::int64_t id = 0; id < job().files; ++id) produce(id, grid, writer, values);
    }
};

}  // namespace

StrategyEntry binary_entry() {
    return {.name = "binary",
            .summary = "one process, whole arrays, binary files (npy)",
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = [](const Job& job, const Place& place) -> std::unique_ptr<Strategy> {
                return std::make_unique<Binary>(job, place);
            }};
}

}  // namespace ranklab::io
