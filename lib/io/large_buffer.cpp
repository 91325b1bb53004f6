#include "io/large_buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace ranklab::io {

std::span<double> LargeBuffer::get(std::size_t count) {
    if (count > capacity_) {
        release();
        void* data = ::mmap(nullptr, count * sizeof(double), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) throw std::bad_alloc();
        ::madvise(data, count * sizeof(double), MADV_HUGEPAGE);  // a wish: it may fail
        data_ = static_cast<double*>(data);
        capacity_ = count;
    }
    return {data_, count};
}

void LargeBuffer::release() noexcept {
    if (data_ != nullptr) ::munmap(data_, capacity_ * sizeof(double));
    data_ = nullptr;
    capacity_ = 0;
}

}  // namespace ranklab::io
