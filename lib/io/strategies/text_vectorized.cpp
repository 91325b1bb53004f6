// The second rung: a whole record by one vectorised expression; the files are still text.
#include "io/file_rung.hpp"

namespace ranklab::io {
namespace {

class TextVectorized final : public FileRung {
  public:
    TextVectorized(const Job& job, const Place& place) : FileRung(job, place, Encoding::text) {}

    void write() override {
        const Grid grid(job().size);
        RecordWriter writer(job(), Encoding::text, place().times);
        std::vector<double> values;
        for (std::int64_t id = 0; id < job().files; ++id) produce(id, grid, writer, values);
    }
};

}  // namespace

StrategyEntry text_vectorized_entry() {
    return {.name = "text-vectorized",
            .summary = "one process, whole arrays, text files",
            .extension = ".txt",
            .bytes_per_record = text_bytes,
            .make = [](const Job& job, const Place& place) -> std::unique_ptr<Strategy> {
                return std::make_unique<TextVectorized>(job, place);
            }};
}

}  // namespace ranklab::io
