#include "hdf5/library_mutex.hpp"

namespace ranklab::hdf5 {

std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace ranklab::hdf5
