#include "comm/divide.hpp"

#include <cstring>
#include <type_traits>

#include "comm/visit_type.hpp"

namespace ranklab::comm {
namespace {

// The buffer may lie at any byte.
template <class T, class Change>
void change_each(const BufferView& buffer, Change change) {
    auto* bytes = static_cast<char*>(buffer.data);
    for (std::size_t i = 0; i < buffer.count; ++i, bytes += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes, sizeof(T));
        value = change(value);
        std::memcpy(bytes, &value, sizeof(T));
    }
}

}  // namespace

void divide(const BufferView& buffer, int by) {
    visit_type(buffer.dtype, [&](auto type) {
        using T = decltype(type);
        change_each<T>(buffer, [by](T value) {
            if constexpr (std::is_integral_v<T>)
                return static_cast<T>(value / static_cast<std::int64_t>(by));
            else if constexpr (std::is_same_v<T, double>)
                return value / by;
            else
                return static_cast<T>(static_cast<float>(value) / static_cast<float>(by));
        });
    });
}

}  // namespace ranklab::comm
