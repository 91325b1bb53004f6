#include "train/sharded_sync.hpp"

#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "nn/outline.hpp"
#include "train/equal_state.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// Buckets of gradients that may wait for their sum at a time (stages 2 and 3): more would take the
// memory that sharding saves.
constexpr std::int64_t kMostUnsummed = 2;

// The sync that watches this thread's operations: LibTorch's callbacks are plain functions.
thread_local ShardedSync* watching = nullptr;

// Gives a tensor's storage other memory, or none. The tensor's views get the new memory, too.
// Autograd does not notice: the values that autograd saved return with the next gather.
void set_memory(const torch::Tensor& tensor, std::size_t bytes) {
    auto* const storage = tensor.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(storage->allocator()->allocate(bytes));
    storage->set_nbytes(bytes);
}

std::int64_t shard_size(std::int64_t elements, int ranks) {
    return (elements + ranks - 1) / ranks;
}

// Sums the ranks' parts in rank order. Not by LibTorch, since this runs in the queue's thread, in
// which LibTorch would start a second team of threads.
void sum_parts(const comm::BufferView& parts, const comm::BufferView& sum, bool adds) {
    comm::visit_type(sum.dtype, [&](auto value) {
        using T = decltype(value);
        const auto* part = static_cast<const T*>(parts.data);
        auto* const out = static_cast<T*>(sum.data);
        for (std::size_t first = 0; first < parts.count; first += sum.count, part += sum.count)
            if (first == 0 && !adds)
                std::copy_n(part, sum.count, out);
            else
                for (std::size_t i = 0; i < sum.count; ++i)
                    out[i] = static_cast<T>(out[i] + part[i]);
    });
}

// Buckets in about backward's order (stages 1, 2), or blocks of layers (stage 3).
BucketPlan plan_shards(const nn::Model& model, int stage, std::int64_t first_cap,
                       std::int64_t cap) {
    const auto sizes = sizes_of(trained_parameters(model));
    if (stage == 3) return plan_blocks(trained_parameter_names(model), sizes, first_cap);
    return plan_buckets(sizes, reverse_order(sizes.size()), first_cap, cap);
}

}  // namespace

// Tells the sync which tensors this thread's operations read, while the object lives. Backward runs
// in this thread meanwhile, on a GPU, too.
struct ShardedSync::Watch : base::Immovable {
    explicit Watch(ShardedSync& sync)
        : threads(c10::AutogradState::get_tls_state().get_multithreading_enabled()),
          callbacks(at::RecordFunctionCallback(before).needsInputs(true).scopes(
              {at::RecordScope::FUNCTION})) {
        watching = &sync;
        c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
    }
    ~Watch() {
        c10::AutogradState::get_tls_state().set_multithreading_enabled(threads);
        watching = nullptr;
    }

    static std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& function) {
        ShardedSync* const sync =
            std::exchange(watching, nullptr);  // not the sync's own operations
        if (sync == nullptr) return nullptr;
        for (const auto& input : nn::inputs_of(function)) {
            if (input.isTensor()) sync->see(input.toTensor());
            if (!input.isList()) continue;
            for (const auto& element : input.toListRef())
                if (element.isTensor()) sync->see(element.toTensor());
        }
        watching = sync;
        return nullptr;
    }

    bool threads;
    nn::OperationCallbacks callbacks;
};

ShardedBytes predict_bytes(const nn::Model& model, const ZeroConfig& zero, int ranks,
                           std::int64_t bucket_cap, std::int64_t states) {
    const auto parameters = trained_parameters(model);
    std::int64_t shards = 0, largest = 0;
    for (const auto& members :
         plan_shards(model, zero.stage, std::min(kFirstBucketBytes, bucket_cap), bucket_cap)) {
        std::int64_t elements = 0;
        for (const std::size_t i : members) elements += parameters[i].numel();
        const auto shard = shard_size(elements, ranks) *
                           static_cast<std::int64_t>(parameters[members.front()].element_size());
        shards += shard;
        largest = std::max(largest, shard * ranks);
    }
    ShardedBytes bytes{.parameters = shards * (zero.stage == 3 ? 1 : ranks),
                       .gradients = shards * (zero.stage >= 2 ? 1 : ranks),
                       .optimizer = shards * states};
    bytes.blocks = largest * zero.landings;
    if (zero.stage >= 2) bytes.blocks += largest * (kMostUnsummed + 1);
    if (zero.stage == 3) bytes.blocks += largest * (1 + zero.prefetch_blocks);
    return bytes;
}

ShardedSync::ShardedSync(const nn::Model& model, const SyncSetup& setup, const ZeroConfig& zero)
    : setup_(setup),
      zero_(zero),
      ranks_(setup.data.world_size()),
      rank_(setup.data.rank()),
      parameters_(trained_parameters(model)),
      bucket_of_(parameters_.size()),
      begin_(parameters_.size()),
      filled_(parameters_.size()),
      gather_comm_(setup.data.split(0, rank_)),
      gathers_(*gather_comm_, setup.progress, setup.transfer, 0, 2),
      reductions_(setup.data, setup.progress, setup.transfer, 0,
                  static_cast<std::size_t>(std::max(1, zero.landings))) {
    for (auto& members : plan_shards(model, zero.stage, setup.first_cap_bytes, setup.cap_bytes)) {
        buckets_.push_back(make_bucket(std::move(members)));
        const auto& whole = buckets_.back().whole;
        bucket_of_storage_[whole.storage().unsafeGetStorageImpl()] = buckets_.size() - 1;
        if (zero_.stage == 3) live_blocks_ += static_cast<std::int64_t>(whole.nbytes());
    }
    for (const auto& bucket : buckets_) add_parts(bucket);
    owned_.sum = [this](double mine) {
        return comm::reduced(setup_.control, mine, comm::ReduceOp::sum);
    };
    std::int64_t largest = 0;
    for (const auto& bucket : buckets_) largest = std::max(largest, bucket.bytes() * ranks_);
    for (int i = 0; i < zero.landings; ++i)
        landings_.push_back(torch::empty({largest}, torch::kByte));
    live_blocks_ += largest * std::ssize(landings_);
    reduce_order_ = reverse_order(buckets_.size());
    if (zero_.stage < 3) std::ranges::reverse(reduce_order_);
    hooks_ = std::make_unique<GradientHooks>(parameters_,
                                             [this](std::size_t i) { on_gradient_ready(i); });
}

ShardedSync::~ShardedSync() = default;

ShardedSync::Bucket ShardedSync::make_bucket(std::vector<std::size_t> members) {
    const torch::NoGradGuard no_gradients;
    Bucket bucket;
    bucket.members = std::move(members);
    for (const std::size_t i : bucket.members) {
        bucket_of_[i] = buckets_.size();
        begin_[i] = bucket.elements;
        bucket.elements += parameters_[i].numel();
    }
    bucket.shard_size = shard_size(bucket.elements, ranks_);
    const auto options = parameters_[bucket.members.front()].options().requires_grad(false);
    bucket.whole = torch::zeros({bucket.shard_size * ranks_}, options);
    for (const std::size_t i : bucket.members) {
        const auto slot = slot_of(bucket.whole, i);
        slot.copy_(parameters_[i].detach());
        parameters_[i].set_data(slot);
    }
    const auto own = [&](const torch::Tensor& whole) {
        return whole.narrow(0, rank_ * bucket.shard_size, bucket.shard_size);
    };
    bucket.shard = zero_.stage == 3 ? own(bucket.whole).clone() : own(bucket.whole);
    if (zero_.stage == 1) bucket.gradient = torch::zeros_like(bucket.whole);
    bucket.shard_gradient =
        zero_.stage == 1 ? own(bucket.gradient) : torch::zeros_like(bucket.shard);
    return bucket;
}

// Returns the part of a bucket's buffer that belongs to the parameter, in the parameter's shape.
torch::Tensor ShardedSync::slot_of(const torch::Tensor& whole, std::size_t parameter) const {
    const auto& like = parameters_[parameter];
    return viewed_as(whole.narrow(0, begin_[parameter], like.numel()), like);
}

void ShardedSync::add_parts(const Bucket& bucket) {
    const torch::NoGradGuard no_gradients;
    const std::int64_t first = rank_ * bucket.shard_size;
    for (const std::size_t i : bucket.members) {
        const std::int64_t low = std::max(begin_[i], first);
        const std::int64_t high =
            std::min(begin_[i] + parameters_[i].numel(), first + bucket.shard_size);
        if (low >= high) continue;
        const auto part = [&](const torch::Tensor& shard) {
            const auto row = shard.narrow(0, low - first, high - low);
            return parameters_[i].dim() >= 2 ? row.view({1, -1}) : row;
        };
        owned_.tensors.push_back(part(bucket.shard));
        part_gradients_.push_back(part(bucket.shard_gradient));
        owned_.parameter_of.push_back(i);
    }
}

BucketPlan ShardedSync::buckets() const {
    BucketPlan plan;
    for (std::int64_t round = 0; round < std::max<std::int64_t>(1, rounds_); ++round)
        for (const std::size_t b : reduce_order_) plan.push_back(buckets_[b].members);
    return plan;
}

Owned ShardedSync::owned(const std::vector<torch::Tensor>&) const {
    return owned_;
}

void ShardedSync::begin_forward(base::PhaseSink& phases) {
    const auto mark = phases.phase(base::Phase::sync);
    if (pass_ == &backward_) end_backward();  // of a micro-batch before the last
    if (zero_.stage == 3 && agreed_) release_all();
    if (zero_.stage == 3 && !agreed_) {  // a broadcast may have changed the parameters
        const torch::NoGradGuard no_gradients;
        for (auto& bucket : buckets_)
            bucket.shard.copy_(
                bucket.whole.narrow(0, rank_ * bucket.shard_size, bucket.shard_size));
    }
    for (auto& bucket : buckets_) bucket.used = false;
    start_pass(forward_);
    watched_forward_ = !agreed_ || zero_.stage == 3 || awaited_ < started_;
    watch_.reset();
    if (watched_forward_) watch_ = std::make_unique<Watch>(*this);
}

void ShardedSync::start_pass(Pass& pass) {
    pass_ = &pass;
    records_anew_ = true;
    if (zero_.stage < 3) return;  // the gathers of the last update may be under way
    current_ = kNone;
    for (std::size_t b = 0; b < buckets_.size(); ++b)
        buckets_[b].visits = std::ranges::count(pass.uses, b);
    first_gather_ = fresh_ ? 0 : first_gather_ + started_;
    if (fresh_) gathers_.begin_step();
    started_ = awaited_ = 0;
}

void ShardedSync::see(const torch::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    const auto found = bucket_of_storage_.find(tensor.storage().unsafeGetStorageImpl());
    if (found != bucket_of_storage_.end()) use(found->second);
}

// An operation is about to read a parameter of this bucket.
void ShardedSync::use(std::size_t b) {
    buckets_[b].used = true;
    if (!agreed_) {
        if (std::exchange(records_anew_, false)) pass_->uses.clear();  // an earlier micro-batch's
        if (pass_->uses.empty() || pass_->uses.back() != b) pass_->uses.push_back(b);
        return;
    }
    try {
        if (zero_.stage < 3)
            await_gathers(pass_->place[b] + 1);
        else if (b != current_)
            enter(b);
    } catch (...) {
        failure_ = std::current_exception();
        hold(buckets_[b]);  // the operation reads garbage; the caller of the pass gets the failure
    }
}

// Stage 3: frees the block used before, starts to gather the next blocks and waits for this one.
void ShardedSync::enter(std::size_t b) {
    if (current_ != kNone && --buckets_[current_].visits == 0) release(buckets_[current_]);
    current_ = b;
    const std::size_t place = pass_->place[b], next = place == kNone ? 0 : place + 1;
    if (!buckets_[b].resident && next <= started_)
        throw base::OptionError(
            "the model uses its layers in another order than in the first step; a model with "
            "control "
            "flow cannot shard its parameters",
            {"zero 2"});
    start_gathers(*pass_, next + static_cast<std::size_t>(zero_.prefetch_blocks));
    await_gathers(next);
}

void ShardedSync::hold(Bucket& bucket) {
    if (std::exchange(bucket.resident, true)) return;
    set_memory(bucket.whole, static_cast<std::size_t>(bucket.bytes() * ranks_));
    live_blocks_ += bucket.bytes() * ranks_;
    peak_blocks_ = std::max(peak_blocks_, live_blocks_);
}

void ShardedSync::release(Bucket& bucket) {
    if (!std::exchange(bucket.resident, false)) return;
    set_memory(bucket.whole, 0);
    live_blocks_ -= bucket.bytes() * ranks_;
}

void ShardedSync::release_all(std::size_t but) {
    for (std::size_t b = 0; b < buckets_.size(); ++b)
        if (b != but) release(buckets_[b]);
}

void ShardedSync::start_gathers(const Pass& pass, std::size_t count) {
    while (started_ < std::min(count, pass.order.size())) {
        Bucket& bucket = buckets_[pass.order[started_++]];
        hold(bucket);
        gathers_.push(view_of(bucket.whole), {},
                      comm::Transfer{.operation = comm::Operation::allgather,
                                     .send = view_of(bucket.shard),
                                     .receive = view_of(bucket.whole)});
    }
}

void ShardedSync::await_gathers(std::size_t count) {
    if (count <= awaited_) return;
    const auto begin = Clock::now();
    gathers_.wait(first_gather_ + count);
    if (pass_ != nullptr) exposed_s_ += base::seconds_since(begin);
    awaited_ = count;
}

void ShardedSync::end_forward() {
    if (zero_.stage < 3) watch_.reset();
    if (pass_ != &forward_) return;
    // Ranks without samples, and models that left out a layer, take part in all gathers.
    if (zero_.stage == 3) start_gathers(forward_, forward_.order.size());
    await_gathers(started_);
    if (zero_.stage == 3 && agreed_) release_all(kept_);
    if (failure_) std::rethrow_exception(failure_);
}

void ShardedSync::begin_step(const std::vector<torch::Tensor>&, bool sync) {
    end_forward();
    if (fresh_) {
        drop_gradients(parameters_);
        rounds_ = 0;
        pushed_.clear();
        collected_ = 0;
        reduced_ = 0;
        reductions_.begin_step();
        if (zero_.stage >= 2)
            for (auto& bucket : buckets_) bucket.gradient.reset();
    }
    fresh_ = false;
    reduces_ = sync || zero_.stage >= 2;
    rounds_ += reduces_ ? 1 : 0;
    next_ = 0;
    for (auto& bucket : buckets_) bucket.pending = bucket.members.size();
    start_pass(backward_);
}

// Adds the parameter's gradient to its bucket, and reduces the bucket once it is complete.
void ShardedSync::on_gradient_ready(std::size_t i) {
    if (pass_ != &backward_) return;
    const torch::NoGradGuard no_gradients;
    Bucket& bucket = buckets_[bucket_of_[i]];
    try {
        if (watched_forward_ && !bucket.used)
            throw base::OptionError(
                "an operation of the model hides a parameter from ranklab (a fused kernel); leave "
                "the option out",
                {"zero"});
        need_gradient(bucket);
        const auto slot = slot_of(bucket.gradient, i);
        const auto& gradient = parameters_[i].grad();
        filled_[i] ? slot.add_(gradient) : slot.copy_(gradient);
        filled_[i] = true;
        parameters_[i].mutable_grad().reset();
        if (!reduces_) return;
        if (--bucket.pending == 0 && !agreed_) ready_order_.push_back(bucket_of_[i]);
        while (next_ < reduce_order_.size() && buckets_[reduce_order_[next_]].pending == 0)
            push_next();
        collect();
    } catch (...) {
        if (!failure_) failure_ = std::current_exception();
    }
}

void ShardedSync::need_gradient(Bucket& bucket) {
    if (bucket.gradient.defined()) return;
    const auto begin = Clock::now();
    while (std::ssize(pushed_) - std::ptrdiff_t(collected_) >= kMostUnsummed)
        await_reductions(collected_ + 1);
    if (pass_ != nullptr) exposed_s_ += base::seconds_since(begin);
    bucket.gradient = torch::empty({bucket.shard_size * ranks_}, bucket.shard.options());
    live_blocks_ += bucket.bytes() * ranks_;
    peak_blocks_ = std::max(peak_blocks_, live_blocks_);
}

void ShardedSync::push_next() {
    const std::size_t b = reduce_order_[next_++];
    Bucket& bucket = buckets_[b];
    need_gradient(bucket);
    for (const std::size_t i : bucket.members) {
        if (!filled_[i]) slot_of(bucket.gradient, i).zero_();  // not reached by this backward
        filled_[i] = false;
    }
    const bool adds = pushed_.size() >= buckets_.size();  // to the sum of earlier micro-batches
    // On the CPU an alltoall: Open MPI's non-blocking reduce_scatter sends whole buffers to rank 0.
    bucket.landing = on_gpu() ? torch::empty_like(bucket.shard)
                              : landings_[pushed_.size() % landings_.size()]
                                    .narrow(0, 0, bucket.bytes() * ranks_)
                                    .view(bucket.shard.scalar_type());
    pushed_.push_back(b);
    reductions_.push(
        view_of(bucket.gradient),
        [this, &bucket, adds](const std::exception_ptr& error) {
            if (error) return;
            if (!on_gpu()) sum_parts(view_of(bucket.landing), view_of(bucket.shard_gradient), adds);
            ++reduced_;
        },
        comm::Transfer{
            .operation = on_gpu() ? comm::Operation::reduce_scatter : comm::Operation::alltoall,
            .send = view_of(bucket.gradient),
            .receive = view_of(bucket.landing)});
    if (next_ == reduce_order_.size()) reductions_.hurry();
}

void ShardedSync::await_reductions(std::size_t count) {
    reductions_.wait(count);
    collect();
}

// Frees the buffers of finished reductions; on a GPU moves the sums to the shards' gradients first.
void ShardedSync::collect() {
    const torch::NoGradGuard no_gradients;
    for (; collected_ < reduced_; ++collected_) {
        Bucket& bucket = buckets_[pushed_[collected_]];
        if (on_gpu())
            collected_ < buckets_.size() ? bucket.shard_gradient.copy_(bucket.landing)
                                         : bucket.shard_gradient.add_(bucket.landing);
        bucket.landing.reset();
        if (zero_.stage == 1) continue;
        bucket.gradient.reset();
        live_blocks_ -= bucket.bytes() * ranks_;
    }
}

void ShardedSync::end_backward() {
    const torch::NoGradGuard no_gradients;
    watch_.reset();
    if (failure_) std::rethrow_exception(failure_);
    pass_ = nullptr;
    // Starts all gathers before it waits: another rank may need one to reach its next layer.
    if (zero_.stage == 3) start_gathers(backward_, backward_.order.size());
    gathers_.hurry();
    while (reduces_ && next_ < reduce_order_.size()) push_next();
    if (zero_.stage == 3) await_gathers(started_);
    await_reductions(pushed_.size());
    if (zero_.stage == 3 && agreed_) release_all();
}

void ShardedSync::finish() {
    end_backward();
    for (std::size_t i = 0; i < owned_.tensors.size(); ++i)
        owned_.tensors[i].mutable_grad() = part_gradients_[i];
    fresh_ = true;
    if (!agreed_) agree();
}

void ShardedSync::end_update(bool updated) {
    if (zero_.stage == 3 || !updated) return;
    started_ = awaited_ = 0;
    gathers_.begin_step();
    start_gathers(forward_, forward_.order.size());
}

// Takes rank 0's orders, so that all ranks make the same collectives in the same order.
void ShardedSync::agree() {
    const std::size_t n = buckets_.size();
    for (Pass* const pass : {&forward_, &backward_}) {
        pass->uses = comm::from_root(setup_.control, pass->uses);
        pass->order = completed_order(pass->uses, n);
        if (zero_.stage == 3 && !pass->uses.empty())  // what no operation reads is not gathered
            pass->order.resize(std::set(pass->uses.begin(), pass->uses.end()).size());
    }
    reduce_order_ = completed_order(comm::from_root(setup_.control, ready_order_), n);
    if (zero_.stage == 3 && n > 0 && forward_.order.back() == backward_.order.front()) {
        kept_ = backward_.order.front();
        backward_.order.erase(backward_.order.begin());
    }
    for (Pass* const pass : {&forward_, &backward_}) {
        pass->place.assign(n, kNone);
        for (std::size_t i = 0; i < pass->order.size(); ++i) pass->place[pass->order[i]] = i;
    }
    agreed_ = true;
    if (zero_.stage == 3) release_all();
    peak_blocks_ = live_blocks_;
}

void ShardedSync::complete_parameters() {
    if (zero_.stage < 3) return await_gathers(started_);
    if (!agreed_) return;
    const auto peak = peak_blocks_;
    for (auto& bucket : buckets_) {
        if (bucket.resident) continue;
        hold(bucket);
        gather_comm_->allgather(view_of(bucket.shard), view_of(bucket.whole));
    }
    peak_blocks_ = peak;
}

void ShardedSync::complete_gradients() {
    for (auto& bucket : buckets_) {
        if (!bucket.gradient.defined())
            bucket.gradient = torch::empty({bucket.shard_size * ranks_}, bucket.shard.options());
        setup_.data.allgather(view_of(bucket.shard_gradient), view_of(bucket.gradient));
        for (const std::size_t i : bucket.members)
            parameters_[i].mutable_grad() = slot_of(bucket.gradient, i);
    }
}

ShardedBytes ShardedSync::held() const {
    const auto own = [](const torch::Tensor& tensor, const torch::Tensor& part) {
        const bool is_part = tensor.defined() && tensor.is_alias_of(part);
        return static_cast<std::int64_t>((is_part ? tensor : part).storage().nbytes());
    };
    ShardedBytes bytes{.blocks = peak_blocks_};
    for (const auto& bucket : buckets_) {
        bytes.parameters += own(bucket.whole, bucket.shard);
        bytes.gradients += own(bucket.gradient, bucket.shard_gradient);
    }
    return bytes;
}

}  // namespace ranklab::train
