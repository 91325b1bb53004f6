#include "hdf5/layout.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"

namespace ranklab::hdf5 {
namespace {

struct Stack {
    std::string outermost;
    std::string innermost;
};

// H5Ewalk2's callback for each level, from the API call down to the cause.
herr_t note(unsigned level, const H5E_error2_t* error, void* out) noexcept {
    try {
        auto& stack = *static_cast<Stack*>(out);
        std::string text = error->desc == nullptr ? "" : error->desc;
        // Some descriptions hold a time stamp with a newline.
        std::replace(text.begin(), text.end(), '\n', ' ');
        if (level == 0) stack.outermost = text;
        if (!text.empty()) stack.innermost = text;
        return 0;
    } catch (...) {
        return -1;
    }
}

// Makes HDF5 refuse external links: an untrusted file could make ranklab open other files.
void refuse_external_links() {
    H5L_class_t refusal{};
    refusal.version = H5L_LINK_CLASS_T_VERS;
    refusal.id = H5L_TYPE_EXTERNAL;
    refusal.comment = "refused";
    refusal.trav_func = [](auto...) -> hid_t {  // parameters differ between versions of HDF5
        H5Epush2(H5E_DEFAULT, "", "", 0, H5E_ERR_CLS, H5E_LINK, H5E_TRAVERSE,
                 "it is an external link into another file; copy its target here (h5copy)");
        return H5I_INVALID_HID;
    };
    check<H5Lregister>("external links", &refusal);
}

bool open_library() {
    // The variable would override the H5Pset_file_locking of lib/hdf5, and make files unreadable on
    // file systems without locks.
    ::unsetenv("HDF5_USE_FILE_LOCKING");
    // After a failed close (a full disk) HDF5 1.10's exit handler crashes on freed memory. Nothing
    // needs the handler: lib/hdf5 closes all objects.
    check<H5dont_atexit>("the library");
    check<H5open>("the library");
    check<H5Eset_auto2>("the library", H5E_DEFAULT, nullptr, nullptr);
    // No plugins: a file could name a filter, foreign code that HDF5 loads from HDF5_PLUGIN_PATH.
    check<H5PLset_loading_state>("the library", 0);
    refuse_external_links();
    return true;
}

// Before main, so before MPI_Init: a library opened later would write again in MPI_Finalize what it
// could not write, and crash.
[[maybe_unused]] const bool is_open = open_library();

}  // namespace

void close_id(std::int64_t id) noexcept {
    // The id may be invalid already, since closing a file also closes its objects.
    if (H5Iis_valid(id) <= 0 || H5Idec_ref(id) >= 0) return;
    try {
        base::log::warn(fmt::format("HDF5 cannot close an object: {}", library_text()));
    } catch (...) {  // a destructor must not throw
    }
}

std::string library_text() {
    Stack stack;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note, &stack);
    if (stack.innermost.empty() && stack.outermost.empty()) return "no reason given";
    if (stack.outermost.empty() || stack.outermost == stack.innermost) return stack.innermost;
    return fmt::format("{}: {}", stack.outermost, stack.innermost);
}

void fail(std::string_view what) {
    throw base::Hdf5Error(fmt::format("HDF5 failed on {}: {}", what, library_text()));
}

void check_claim(hid_t object, unsigned long long bytes, std::string_view what) {
    constexpr unsigned long long kMost = 4ULL << 30U;
    constexpr unsigned long long kBestCompression = 1100;  // deflate's own bound is 1032
    const Id file = own<H5Iget_file_id>(what, object);
    hsize_t file_size = 0;
    check<H5Fget_filesize>(what, file.get(), &file_size);
    if (bytes <= kMost && bytes / kBestCompression <= file_size) return;
    throw base::DataError(fmt::format(
        "{} claims {} bytes, more than its file can hold; the file is damaged", what, bytes));
}

Id text_type(std::size_t size) {
    Id type = own<H5Tcopy>("a text type", H5T_C_S1);
    check<H5Tset_size>("a text type", type.get(), size);
    if (size != H5T_VARIABLE) check<H5Tset_strpad>("a text type", type.get(), H5T_STR_NULLPAD);
    check<H5Tset_cset>("a text type", type.get(), H5T_CSET_UTF8);
    return type;
}

}  // namespace ranklab::hdf5
