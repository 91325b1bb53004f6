// Private to this room: what exports call a run.
#pragma once

#include <string>

#include "results/run.hpp"

namespace ranklab::report::formats {

/// "train/mnist-cnn/ddp/bucketed", "io/mpi-send/files:15/size:100": what is run, without how much of it. The
/// precision and the device stand in it where they are not fp32 and cpu, the data set where it is another
/// than synthetic. Spaces become '_'.
std::string workload_name(const results::Run& run);
/// The same with "/ranks:2" and the batch of each rank or the worker processes: runs of one name are
/// repetitions.
std::string configuration_name(const results::Run& run);
/// A cost in s or us that is a time, and no difference of times.
bool is_time(const results::Measurement& measurement);

}  // namespace ranklab::report::formats
