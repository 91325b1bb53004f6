#include "comm/nccl/patience.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>
#include <thread>

#include "base/error.hpp"
#include "base/progress.hpp"

namespace ranklab::comm {

Patience nccl_patience(const std::function<const char*(const char*)>& lookup) {
    constexpr double kDefault = 180;
    const char* text = lookup("RANKLAB_NCCL_TIMEOUT");
    if (text == nullptr || *text == '\0') return Patience(kDefault);
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    constexpr double kMost = 1e8;  // years; much more is beyond what wait_for can count
    if (*end == '\0' && std::isfinite(seconds) && seconds > 0) return Patience(std::min(seconds, kMost));
    throw base::EnvironmentError(fmt::format(
        "RANKLAB_NCCL_TIMEOUT='{}' is no number of seconds above 0; unset it for {}", text, kDefault));
}

Patience nccl_patience() {
    return nccl_patience([](const char* name) -> const char* { return std::getenv(name); });
}

std::string hang_sentence(const std::string& what, Patience patience) {
    return fmt::format(
        "{} has not come to an end within {:g} s: a rank is missing or stuck (look for its message), or the "
        "nodes do not reach each other (NCCL_SOCKET_IFNAME names the interface, NCCL_DEBUG=INFO shows it); "
        "RANKLAB_NCCL_TIMEOUT=SECONDS waits longer",
        what, patience.count());
}

ncclResult_t within(Patience patience, const std::string& what, std::function<ncclResult_t()> call) {
    std::packaged_task<ncclResult_t()> task([call = std::move(call)] { return call(); });
    auto result = task.get_future();
    std::thread worker(std::move(task));
    if (result.wait_for(patience) != std::future_status::ready) {
        worker.detach();
        throw base::NcclError(hang_sentence(what, patience));
    }
    worker.join();
    base::count_progress();
    return result.get();
}

}  // namespace ranklab::comm
