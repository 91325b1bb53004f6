// One process writes the values as they lie in memory, to NumPy's npy files.
#include "io/file_strategy.hpp"

namespace ranklab::io {

StrategyEntry binary_entry() {
    return {.name = "binary",
            .summary = "one process, whole arrays, binary files (npy)",
            .make = make_strategy<ArrayStrategy, Encoding::npy>};
}

}  // namespace ranklab::io
