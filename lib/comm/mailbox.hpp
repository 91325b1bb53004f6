// Where one rank's messages to itself wait to be received, without MPI. Private to comm.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "comm/buffer.hpp"

namespace ranklab::comm {

class Mailbox {
  public:
    virtual ~Mailbox() = default;
    void put(int tag, const BufferView& message);
    /// Bytes of the first message of that tag; nothing where there is none.
    std::optional<std::size_t> first(int tag) const;
    /// Takes it out into `buffer` and returns its bytes. Throws where there is none, or it is too long: one
    /// rank alone would wait for ever.
    std::size_t take(int tag, const BufferView& buffer);

  private:
    struct Letter {
        int tag;
        std::vector<char> bytes;
    };
    std::deque<Letter> letters_;
};

}  // namespace ranklab::comm
