"""What a user of GPUs reads, of made runs: DataParallel against DDP, batches and their memory, precisions, NCCL over ranks, DDP against none."""

import ranklab_cli as cli
import results_files as files

SCREEN = 24
DEVICE = "NVIDIA A100 [GPU-{:08}-1111-2222-3333-444444444444]"


def runs(minute, step_s, ranks=1, label="gpu", phases=None, memory=1e10, **config):
    """Five runs on six GPUs per host."""
    config = {"model": "resnet152", "device": "cuda", "backend": "nccl", "mode": "ddp" if ranks > 1 else "single", "sync": "bucketed", "threads": 8, "seed": 1,
              "batch-size": 64 // ranks, "global-batch-size": 64, **{name.replace("_", "-"): value for name, value in config.items()}}
    hosts = [(rank, rank % 6, f"gpu{rank // 6}", "0-7", DEVICE.format(rank % 6)) for rank in range(ranks)]
    made = []
    for i in range(5):
        scale = 1 + 0.002 * i
        values = {("step_time_s", "s", "cost"): step_s * scale, ("throughput_samples_per_s", "samples/s", "rate"): config["global-batch-size"] / (step_s * scale),
                  ("peak_gpu_bytes", "B", "cost"): memory, **{(f"{phase}_time_s", "s", "cost"): seconds * scale for phase, seconds in (phases or {}).items()}}
        made.append(files.run(minute + i, values, config=config, hosts=hosts, label=label, context={"host": {"cpu": "EPYC"}, "place": {"quiet": "yes"}, "training": {"sums_gradients": "no" if config["sync"] == "none" else "yes"}}))
    return made


class OnGpus(cli.Case):
    def screen(self, made, *words):
        """Returns the last screen of the report as one line."""
        result = cli.ranklab("report", files.write(self.folder / "r.h5", made), *words)
        self.assertCode(result, 0)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        return " ".join(" ".join(result.stdout.splitlines()[-SCREEN:]).split())

    def test_data_parallel_against_ddp(self):
        said = self.screen(runs(0, 0.16, phases={"forward": 0.05, "backward": 0.1}) + runs(9, 0.1, 2, phases={"forward": 0.03, "backward": 0.06, "sync_exposed": 0.004}) +
                           runs(18, 0.15, mode="dp", replicas=2, phases={"replicate": 0.03, "forward": 0.03, "backward": 0.06, "reduce": 0.02}), "--group-by", "mode")
        self.assertRegex(said, r"ddp 5 1\.600 ")
        self.assertRegex(said, r"mode = ddp is 1\.50 times as fast as mode = dp \(.*\): mode = dp pays 30.* for replicate, 20.* for reduce")
        page = cli.ranklab("report", self.folder / "r.h5", "--format", "html").stdout
        self.assertRegex(page, r'class="answer">mode ddp is 1\.50 times as fast as mode dp .*: mode dp pays', "a single GPU is not their rival")

    def test_larger_batches_and_their_memory(self):
        made = [run for i, (batch, step_s, memory) in enumerate(((64, 0.16, 1.1e10), (128, 0.3, 2e10), (256, 0.58, 3.8e10)))
                for run in runs(9 * i, step_s, memory=memory, batch_size=batch, global_batch_size=batch)]
        said = self.screen(made, "--group-by", "batch-size", "--measure", "throughput_samples_per_s,peak_gpu_bytes")
        self.assertRegex(said, r"256 5 1\.10.* 35\.4 GiB")
        self.assertIn("best: batch-size = 256", said)

    def test_precision_fused_optimizer_and_jit(self):
        steps = ((0.315, "fp32", "false", "false"), (0.123, "fp16", "false", "false"), (0.113, "fp16", "true", "false"), (0.1, "fp16", "true", "true"))
        made = [run for i, (step_s, precision, fused, jit) in enumerate(steps) for run in runs(9 * i, step_s, model="unet3d", precision=precision, fused_optimizer=fused, jit=jit)]
        said = self.screen(made, "--group-by", "precision,fused-optimizer,jit")
        for ratio in ("2.56", "1.09", "1.13"): self.assertRegex(said, rf"best: [^.]*ms, {ratio} times as fast as")

    def test_nccl_over_ranks(self):
        said = self.screen([run for i, (ranks, step_s) in enumerate(((1, 0.315), (6, 0.32), (18, 0.325), (72, 0.34)))
                            for run in runs(9 * i, step_s, ranks, batch_size=32, global_batch_size=32 * ranks)], "--group-by", "ranks", "--ignore", "hosts")
        self.assertIn("weak scaling: ranks = 72 keeps 0.93 of the rate per GPU of ranks = 1", said)

    def test_ddp_against_none(self):
        said = self.screen(runs(0, 0.3, 2) + runs(9, 0.25, 2, sync="none"), "--group-by", "sync")
        self.assertIn("sync = bucketed takes 1.20 times as long as sync = none (95 % interval", said)
        self.assertIn("which sums no gradients", said)


if __name__ == "__main__":
    cli.main()
