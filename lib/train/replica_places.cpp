#include "train/replica_places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::train {

ReplicaPlaces::ReplicaPlaces(std::vector<torch::Device> devices,
                             const c10::impl::DeviceGuardImplInterface* guard)
    : devices_(std::move(devices)), guard_(guard) {
    if (devices_.empty()) throw base::Error("internal: data parallelism needs at least one replica");
    const auto type = devices_.front().type();
    if (std::any_of(devices_.begin(), devices_.end(), [&](const auto& d) { return d.type() != type; }))
        throw base::Error("internal: replicas on devices of several kinds");
    if (type == torch::kCPU) return;
    if (guard_ == nullptr) guard_ = c10::impl::getDeviceGuardImpl(type);
    streams_.push_back(guard_->getStream(devices_.front()));
    for (std::size_t r = 1; r < devices_.size(); ++r)
        streams_.push_back(guard_->getStreamFromGlobalPool(devices_[r]));
    for (const auto& stream : streams_) before_.push_back(guard_->exchangeStream(stream));
}

ReplicaPlaces::~ReplicaPlaces() {
    for (const auto& stream : before_) {
        try {
            guard_->exchangeStream(stream);
        } catch (...) {  // the thread is left with a stream that works as well
        }
    }
}

void ReplicaPlaces::enter(std::size_t replica) const {
    if (!on_gpus()) return;
    guard_->setDevice(devices_[replica]);
    for (const auto& stream : streams_) guard_->exchangeStream(stream);
}

std::string placement(const ReplicaPlaces& places) {
    std::vector<std::string> parts;
    for (std::size_t r = 0; r < places.count(); ++r)
        parts.push_back(fmt::format("replica {} on GPU {}", r, static_cast<int>(places.device(r).index())));
    return base::join(parts, ", ");
}

void ReplicaStopwatch::start(const ReplicaPlaces& places, std::size_t replica) {
    by_events_ = places.on_gpus();
    if (!by_events_) {
        start_ = base::Clock::now();
        return;
    }
    for (auto* event : {&begin_, &end_})
        if (!event->has_value())
            event->emplace(places.device(replica).type(), c10::EventFlag::BACKEND_DEFAULT);
    begin_->record(places.stream(replica));
}

void ReplicaStopwatch::stop(const ReplicaPlaces& places, std::size_t replica) {
    if (by_events_)
        end_->record(places.stream(replica));
    else
        seconds_ = base::seconds_since(start_);
}

void ReplicaStopwatch::clear() {
    by_events_ = false;
    seconds_ = 0;
}

double ReplicaStopwatch::seconds() const {
    return by_events_ ? begin_->elapsedTime(*end_) / 1e3 : seconds_;
}

}  // namespace ranklab::train
