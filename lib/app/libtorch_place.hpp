// Where the LibTorch lies that ranklab-train would load here, asked of the loader: it ends a program that
// lacks a library in words of its own, before the program has a say.
#pragma once

#include <filesystem>
#include <string>

namespace ranklab::app {

struct LibtorchPlace {
    bool usable = false;
    std::string text = {};     ///< "2.11.0+cu130 in FOLDER", or what is wrong and how to mend it
    std::string version = {};  ///< with which `text` begins where it is usable; "" where that is not known
    std::string folder = {};   ///< for LD_LIBRARY_PATH; "" where the program finds it itself
};

/// Where `program` (ranklab-train) does not find it by itself, RANKLAB_TORCH_ROOT is where it is taken from.
/// Some 10 ms.
LibtorchPlace find_libtorch(const std::filesystem::path& program);

/// Whether the LibTorch that this build was made with is still where it was: then nothing need be asked.
bool libtorch_is_where_it_was();

/// "2.11.0+cu130": of a LibTorch's folder, a wheel's or an unpacked one; "" where it does not say.
std::string libtorch_version(const std::filesystem::path& root);

/// What follows from what the loader says (as ldd shows it); `built_with` is the version of the build.
LibtorchPlace read_loader(const std::string& loader, const std::string& built_with);

}  // namespace ranklab::app
