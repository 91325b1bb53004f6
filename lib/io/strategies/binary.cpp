// The third strategy: the same numbers as they lie in memory, in NumPy's npy files.
#include "io/file_strategy.hpp"

namespace ranklab::io {

StrategyEntry binary_entry() {
    return {.name = "binary",
            .summary = "one process, whole arrays, binary files (npy)",
            .extension = ".npy",
            .bytes_per_record = binary_bytes,
            .make = [](const Job& job, const Place& place) -> std::unique_ptr<Strategy> {
                return std::make_unique<ArrayStrategy>(job, place, Encoding::npy);
            }};
}

}  // namespace ranklab::io
