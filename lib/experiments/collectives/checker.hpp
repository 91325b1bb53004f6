// One more call after the timed ones, with numbers of its own, whose result is compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/collectives/levels.hpp"
#include "experiments/collectives/message.hpp"
#include "experiments/collectives/options.hpp"

namespace ranklab::experiments {

enum class Form { run, started };

class Checker {
  public:
    /// Both outlive it.
    Checker(const CollectivesOptions& options, comm::Communicator& control)
        : options_(options), control_(control) {}

    /// Elements of all ranks' results that are wrong; nothing where no check is asked for. Collective over
    /// the job; ranks that are not active in the level have no calls.
    std::optional<std::int64_t> wrong(const Message& message, Level& level,
                                      std::span<const comm::Transfer> transfers,
                                      std::span<const std::unique_ptr<comm::Prepared>> calls, Form form);

  private:
    std::int64_t wrong_here(const Message& message, Level& level, const comm::Transfer& transfer,
                            comm::Prepared& call, Form form) const;

    const CollectivesOptions& options_;
    comm::Communicator& control_;
    std::uint64_t salt_ = 0;
};

}  // namespace ranklab::experiments
