// A temporary folder for all ranks.
#pragma once

#include <filesystem>
#include <memory>

#include "comm/exchange.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"

namespace ranklab::testing {

class SharedFolder {
  public:
    SharedFolder() {
        if (world().rank() == 0) mine_ = std::make_unique<tests::TempFolder>();
        path_ = comm::broadcast_text(world(), mine_ ? mine_->path().string() : "", 0);
    }
    /// Removes the folder after a barrier.
    ~SharedFolder() { world().barrier(); }

    const std::filesystem::path& path() const { return path_; }

  private:
    std::unique_ptr<tests::TempFolder> mine_;
    std::filesystem::path path_;
};

}  // namespace ranklab::testing
