#include "refusals/refusals.hpp"

namespace ranklab::refusals {

std::vector<Refusal> of_comm() {
    return {
        {"comm --qqqqqqqqq", 2, {"--qqqqqqqqq"}},
    };
}

}  // namespace ranklab::refusals
