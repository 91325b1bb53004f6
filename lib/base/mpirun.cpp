#include "base/mpirun.hpp"

namespace ranklab::base {

std::string mpirun() {
    return RANKLAB_MPIRUN;
}

}  // namespace ranklab::base
