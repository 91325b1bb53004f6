// Writes idx files, right and wrong ones, plain and gzipped.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "temp_folder.hpp"

namespace ranklab::data {

inline std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        bytes += static_cast<char>(value >> shift & 0xFFU);
    return bytes;
}

/// Byte i is i mod 256, so that every value and every place is told apart.
inline std::string counting_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i % 256);
    return bytes;
}

inline std::string image_file(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
    return big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns) +
           counting_bytes(std::size_t{count} * rows * columns);
}

/// Labels 0, 1, .. classes - 1, 0, 1, ..
inline std::string label_file(std::uint32_t count, int classes) {
    std::string bytes = big_endian(0x801) + big_endian(count);
    for (std::uint32_t i = 0; i < count; ++i)
        bytes += static_cast<char>(i % static_cast<std::uint32_t>(classes));
    return bytes;
}

/// The bytes as a gzip file.
inline std::string gzipped(const tests::TempFolder& folder, const std::string& bytes) {
    const auto path = folder / "packing.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    if (file == nullptr || gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) !=
                               static_cast<int>(bytes.size())) {
        throw std::runtime_error("gzwrite failed");
    }
    gzclose(file);
    std::ifstream in(path, std::ios::binary);
    std::string packed{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    return packed;
}

}  // namespace ranklab::data
