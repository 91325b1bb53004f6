// The values of the records: f(x, y, n, t) = ((x/10)^2 (y/10) + (y/10)^2 (x/10) + t/n) mod 1 in
// float64, evaluated left to right without fused multiply-adds, with Python's floored modulo. Equal
// to NumPy's bit by bit (tests/oracle). All results lie in [0, 1].
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace ranklab::io {

/// The `size` points of each axis: x = -size/2, -size/2 + 1, ...; y = 500 - size/2, ... as
/// numpy.arange makes them.
struct Grid {
    explicit Grid(std::int64_t size);
    std::vector<double> x;
    std::vector<double> y;
    std::int64_t size() const { return std::ssize(x); }
};

/// What a record holds at row r, column c. by_y: f(x[c], y[r]), as with numpy.meshgrid. by_x:
/// f(x[r], y[c]), as in the original program's double loop.
enum class Order { by_y, by_x };

/// Returns f for one point. The compiler may not inline, vectorise or hoist the call, so a loop of
/// calls computes one value at a time.
double value_at(double x, double y, double n, double t);

/// Computes rows [first_row, first_row + rows) of record t of n, rows x size values. Vectorised.
void fill_record(const Grid& grid, Order order, std::int64_t n, std::int64_t t,
                 std::int64_t first_row, std::int64_t rows, std::span<double> out);

/// Returns numpy.meshgrid(x, y): x[c] of every element (r, c), then y[r] of every element. Workers
/// of the original program receive or build these arrays.
std::vector<double> meshgrids(std::int64_t size);

/// Computes out[i] = f(x[i], y[i], n, t) from the two meshgrids. Vectorised.
void fill_from_meshgrid(std::span<const double> x, std::span<const double> y, double n, double t,
                        std::span<double> out);

/// An allocator with large pages, from which write() copies a fifth faster. resize() leaves new
/// elements uninitialised.
template <class T>
class LargePages {
  public:
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): allocators need it

    T* allocate(std::size_t count) {
        if (!large(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
        // Not by malloc, which may return reused memory that is on small pages.
        const std::size_t bytes = whole_pages(count);
        void* mapped = ::mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        auto* const begin = static_cast<char*>(mapped);
        const std::size_t before =
            (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage) % kPage;
        if (before > 0) ::munmap(begin, before);
        if (before < kPage) ::munmap(begin + before + bytes, kPage - before);
        ::madvise(begin + before, bytes, MADV_HUGEPAGE);  // optional: it may fail
        return reinterpret_cast<T*>(begin + before);
    }
    void deallocate(T* data, std::size_t count) {
        if (large(count))
            ::munmap(data, whole_pages(count));
        else
            ::operator delete(data);
    }

    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;
    }

    friend bool operator==(const LargePages&, const LargePages&) { return true; }

  private:
    static constexpr std::size_t kPage = std::size_t{2} << 20U;
    static bool large(std::size_t count) { return count * sizeof(T) >= kPage; }
    static std::size_t whole_pages(std::size_t count) {
        return (count * sizeof(T) + kPage - 1) / kPage * kPage;
    }
};

/// The values of a record.
using Values = std::vector<double, LargePages<double>>;
/// A record as text, or other bytes.
using Bytes = std::vector<char, LargePages<char>>;

}  // namespace ranklab::io
