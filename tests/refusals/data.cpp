#include "refusals/refusals.hpp"

namespace ranklab::refusals {

std::vector<Refusal> of_data() {
    return {
        {"data --qqqqqqqqq", 2, {"--qqqqqqqqq"}},
    };
}

}  // namespace ranklab::refusals
