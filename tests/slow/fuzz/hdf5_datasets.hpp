// Datasets of every type, shape and layout that HDF5 can hold, for hdf5_edits.
#pragma once

#include <hdf5.h>

#include <string>

#include "fuzz/random.hpp"

namespace ranklab::fuzz {

/// Any HDF5 identifier; closed with its holder.
class Held {
  public:
    explicit Held(hid_t id) : id_(id) {}
    ~Held() {
        if (id_ >= 0 && H5Iis_valid(id_) > 0) H5Idec_ref(id_);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&& other) noexcept : id_(other.id_) { other.id_ = H5I_INVALID_HID; }
    Held& operator=(Held&&) = delete;
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): stands where an id does

  private:
    hid_t id_;
};

Held odd_type(Random& random);
Held odd_space(Random& random, bool small);
/// Makes `name` in `place`; nothing where HDF5 refuses the combination.
void make_odd_dataset(hid_t place, const std::string& name, Random& random);
/// A few kB that unpack to many MB of zeros.
void make_bomb(hid_t place, const std::string& name, Random& random);

}  // namespace ranklab::fuzz
