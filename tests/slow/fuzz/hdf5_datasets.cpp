#include "fuzz/hdf5_datasets.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

namespace ranklab::fuzz {
namespace {

Held text_type(std::size_t size) {
    Held type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, size);
    return type;
}

Held compound_type(Random& random) {
    const std::size_t members = 1 + random.mostly_small(random.chance(5) ? 3000 : 20);
    Held type(H5Tcreate(H5T_COMPOUND, members * 16));
    for (std::size_t i = 0; i < members; ++i) {
        const Held member =
            random.chance(70) ? Held(H5Tcopy(H5T_NATIVE_DOUBLE)) : text_type(1 + random.below(16));
        H5Tinsert(type, fmt::format("m{}", i).c_str(), i * 16, member);
    }
    return type;
}

// Types made of others, one level deep.
Held made_type(Random& random) {
    const Held inner(H5Tcopy(random.chance(50) ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE));
    switch (random.below(5)) {
        case 0:
            return Held(H5Tvlen_create(inner));
        case 1: {
            const std::array<hsize_t, 2> sizes{1 + random.mostly_small(1U << 20U), 1 + random.below(8)};
            return Held(H5Tarray_create2(inner, 2, sizes.data()));
        }
        case 2: {
            Held type(H5Tenum_create(H5T_NATIVE_INT));
            const int value = 1;
            H5Tenum_insert(type, "ONE", &value);
            return type;
        }
        case 3:
            return Held(H5Tcreate(H5T_OPAQUE, 1 + random.mostly_small(1U << 20U)));
        default:
            return compound_type(random);
    }
}

void store_outside(hid_t properties, Random& random) {
    constexpr std::array kPlaces{"secret.bin", "fifo", "/dev/zero", "nothing.bin", "in.h5"};
    const hsize_t size = random.chance(50) ? H5F_UNLIMITED : hsize_t{8} << random.below(30);
    H5Pset_external(properties, random.pick(kPlaces), static_cast<off_t>(random.mostly_small(100)), size);
}

Held layout_for(hid_t space, Random& random) {
    Held properties(H5Pcreate(H5P_DATASET_CREATE));
    const int rank = H5Sget_simple_extent_ndims(space);
    switch (random.below(5)) {
        case 0:
            H5Pset_layout(properties, H5D_COMPACT);
            break;
        case 1:
            store_outside(properties, random);
            break;
        case 2:
            break;
        default: {
            if (rank < 1) break;
            std::vector<hsize_t> chunk(static_cast<std::size_t>(rank));
            for (auto& edge : chunk) edge = 1 + random.mostly_small(64);
            H5Pset_chunk(properties, rank, chunk.data());
            if (random.chance(30)) H5Pset_deflate(properties, 1);
            if (random.chance(20)) H5Pset_fletcher32(properties);
        }
    }
    return properties;
}

std::string packed_zeros(std::size_t size) {
    const std::string zeros(size, '\0');
    uLongf packed = compressBound(size);
    std::string bytes(packed, '\0');
    compress2(reinterpret_cast<Bytef*>(bytes.data()), &packed, reinterpret_cast<const Bytef*>(zeros.data()),
              size, 1);
    bytes.resize(packed);
    return bytes;
}

}  // namespace

Held odd_type(Random& random) {
    const std::array<hid_t, 12> plain{H5T_NATIVE_INT8,   H5T_NATIVE_UINT64,  H5T_STD_I64BE,
                                      H5T_NATIVE_INT,    H5T_NATIVE_FLOAT,   H5T_IEEE_F64BE,
                                      H5T_NATIVE_DOUBLE, H5T_NATIVE_LDOUBLE, H5T_STD_B32LE,
                                      H5T_UNIX_D32LE,    H5T_STD_REF_OBJ,    H5T_NATIVE_DOUBLE};
    switch (random.below(4)) {
        case 0:
            return text_type(random.chance(30) ? H5T_VARIABLE : 1 + random.mostly_small(1U << 30U));
        case 1:
            return made_type(random);
        default:
            return Held(H5Tcopy(random.pick(plain)));
    }
}

Held odd_space(Random& random, bool small) {
    if (random.chance(8)) return Held(H5Screate(random.chance(50) ? H5S_NULL : H5S_SCALAR));
    const std::size_t rank = random.chance(80) ? 1 + random.below(2) : 1 + random.below(32);
    std::vector<hsize_t> sizes(rank);
    for (auto& size : sizes)
        size = small || random.chance(60) ? random.mostly_small(20) : edge_number(random);
    const std::vector<hsize_t> most(rank, H5S_UNLIMITED);
    return Held(
        H5Screate_simple(static_cast<int>(rank), sizes.data(), random.chance(20) ? most.data() : nullptr));
}

void make_odd_dataset(hid_t place, const std::string& name, Random& random) {
    if (random.chance(3)) return make_bomb(place, name, random);
    const Held type = odd_type(random);
    const Held space = odd_space(random, false);
    const Held properties = layout_for(space, random);
    const Held dataset(H5Dcreate2(place, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
}

void make_bomb(hid_t place, const std::string& name, Random& random) {
    constexpr hsize_t kChunk = hsize_t{1} << 21U;  // doubles: 16 MiB
    static const std::string packed = packed_zeros(kChunk * sizeof(double));
    const hsize_t chunks = 1 + random.below(150);
    const hsize_t size = chunks * kChunk;
    const Held space(H5Screate_simple(1, &size, nullptr));
    const Held properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(properties, 1, &kChunk);
    H5Pset_deflate(properties, 1);
    const Held dataset(
        H5Dcreate2(place, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    for (hsize_t at = 0; dataset >= 0 && at < size; at += kChunk)
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &at, packed.size(), packed.data());
}

}  // namespace ranklab::fuzz
