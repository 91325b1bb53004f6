// One process computes a record by one vectorised expression, and writes it as text.
#include "io/file_strategy.hpp"

namespace ranklab::io {

StrategyEntry text_vectorized_entry() {
    return {.name = "text-vectorized",
            .summary = "one process, whole arrays, text files",
            .extension = ".txt",
            .bytes_per_value = 25,
            .make = make_strategy<ArrayStrategy, Encoding::text>};
}

}  // namespace ranklab::io
