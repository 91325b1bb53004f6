#include "io/file_strategy.hpp"

#include "base/numbers.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using base::IoTimes;

class FileReader final : public Reader {
  public:
    FileReader(const Job& job, Encoding encoding, IoTimes& times) : reader_(job, encoding, times) {}
    void read(std::int64_t id, std::span<double> values) override { reader_.read(id, values); }

  private:
    RecordReader reader_;
};

}  // namespace

std::unique_ptr<Reader> FileStrategy::reader(IoTimes& times) const {
    return std::make_unique<FileReader>(job_, encoding_, times);
}

void FileStrategy::produce(std::int64_t id, const Grid& grid, RecordWriter& writer, Values& values) const {
    const auto begin = IoTimes::Clock::now();
    values.resize(job_.values_per_record());
    {
        const auto mark = place_.times.phase(IoPhase::generate);
        fill_record(grid, Order::by_y, job_.files, id, 0, job_.size, values);
    }
    writer.write(id, values);
    end_record(begin, writer);
}

void FileStrategy::end_record(IoTimes::Clock::time_point begin, const RecordWriter& writer) const {
    place_.times.add_record(begin, IoTimes::Clock::now(), base::real(writer.bytes_of_last()));
    place_.done(1);
}

void ArrayStrategy::write() {
    const Grid grid(job().size);
    RecordWriter writer(job(), encoding(), place().times);
    Values values;
    for (std::int64_t id = 0; id < job().files; ++id) produce(id, grid, writer, values);
}

std::int64_t text_bytes(std::int64_t size) {
    return 25 * size * size;
}

std::int64_t binary_bytes(std::int64_t size) {
    return 8 * size * size;
}

}  // namespace ranklab::io
