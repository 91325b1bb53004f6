#include "refusals/refusals.hpp"

namespace ranklab::refusals {

std::vector<Refusal> of_reading() {
    return {
        {"trian", 2, {"unknown command 'trian'", "did you mean train?"}},
        {"report notes.txt", 3, {"notes.txt"}},
    };
}

}  // namespace ranklab::refusals
