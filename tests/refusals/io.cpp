#include "refusals/refusals.hpp"

namespace ranklab::refusals {

std::vector<Refusal> of_io() {
    return {
        {"io --qqqqqqqqq", 2, {"--qqqqqqqqq"}},
    };
}

}  // namespace ranklab::refusals
