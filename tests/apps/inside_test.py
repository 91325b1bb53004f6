"""Profiles of a run (--profile) and its TensorBoard files (--tensorboard)."""

import collections
import json
import resource
import struct
import unittest

import ranklab_cli as cli

cli.need_train()
h5py, = cli.modules("h5py")

SMALL = ("--model", "mnist-cnn", "--width", 8, "--data", "synthetic", "--train-samples", 240, "--validation-samples", 20, "--batch-size", 4, "--threads", 1, "--warmup", 0)


def fields(message):
    """Returns [(field, value)] of a protobuf message: an int for a varint, bytes otherwise."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 2: None, 5: 4}[tag & 7]
            size = varint() if size is None else size
            value, at = message[at:at + size], at + size
        found.append((tag >> 3, value))
    return found


def events(path):
    """Returns the events of a file's complete records."""
    data, at, found = path.read_bytes(), 0, []
    while at + 12 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        found.append(dict(fields(data[at + 12:at + 12 + size])))
        at += 16 + size
    return found


def scalars(folder):
    """{tag: {step: value}}"""
    (path,) = folder.glob("events.out.tfevents.*")
    found = {}
    for event in events(path):
        for field, value in fields(event.get(5, b"")):
            one = dict(fields(value))
            if 2 in one:
                found.setdefault(one[1].decode(), {})[event[2]] = struct.unpack("<f", one[2])[0]
    return found


class Inside(cli.Case):
    def train(self, *words, ranks=1, code=0, env=None):
        (self.folder / "r.h5").unlink(missing_ok=True)
        result = cli.ranklab("train", *SMALL, *words, "--output", "r.h5", ranks=ranks, cwd=self.folder, env=env)
        self.assertCode(result, code)
        return result

    def cpu_of_children_s(self):
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        return use.ru_utime + use.ru_stime

    def tables(self):
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            return {name: table[()] for name, table in run["tables"].items()}, {name: data[()].ravel() for name, data in run["samples"].items()}

    def test_lines_have_the_hits_of_the_loop(self):
        for ranks in (1, 2, 3):
            result = self.train("--epochs", 3, "--profile", "lines", "--tensorboard", f"t{ranks}", ranks=ranks)
            self.assertIn("for batch in loader:", result.stdout)
            tables, _ = self.tables()
            hits = {row["contents"].decode().strip(): row["hits"] for row in tables["lines"]}
            steps = 3 * 60 // ranks
            self.assertEqual(hits["for batch in loader:"], steps + 3)
            for line in ("x, y = batch.to(device)", "loss = loss_of(model(x), y)", "loss.backward()", "optimizer.step()", "sum += loss.item()", "progress.update(loss)"):
                self.assertEqual(hits[line], steps, line)
            self.assertEqual(hits["if step % 10 == 0: log(loss)"], steps // 10)
            self.assertEqual(hits["evaluate(model, test)"], 3)
            self.assertAlmostEqual(sum(row["percent"] for row in tables["lines"]), 100, 6)

    def test_a_costly_loader_is_seen_in_its_line(self):
        shares = []
        for cost in (0, 3000):
            self.train("--steps", 10, "--profile", "lines", "--loader-cost-us", cost, "--workers", 0)
            tables, _ = self.tables()
            shares.append(next(row["time_s"] for row in tables["lines"] if row["contents"].decode().startswith("for batch")))
        self.assertGreater(shares[1], shares[0] + 40 * 3000e-6 * 0.99, "40 samples of 3 ms of CPU time")

    def test_curves_are_the_stored_numbers(self):
        self.train("--epochs", 2, "--tensorboard", "curves", ranks=2)
        found = scalars(self.folder / "curves")
        _, samples = self.tables()
        logged = [1, 11, 21, 31, 41, 51]
        self.assertEqual(list(found["Loss/train"]), logged)
        for step in logged:
            self.assertAlmostEqual(found["Loss/train"][step], samples["train_loss"][step - 1], 5)
            self.assertAlmostEqual(found["Learning Rate"][step], samples["learning_rate"][step - 1], 6)
        self.assertEqual(list(found["Loss/valid"]), [30, 60])
        for step, loss, accuracy in zip((30, 60), samples["validation_loss"], samples["validation_accuracy"]):
            self.assertAlmostEqual(found["Loss/valid"][step], loss, 5)
            self.assertAlmostEqual(found["Accuracy/valid"][step], accuracy, 6)
        self.assertLessEqual({"Avg iters per sec", "Throughput/samples per sec", "Phases/step", "Phases/forward", "Phases/sync"}, set(found))

    def test_the_curves_of_a_killed_run_can_be_read(self):
        words = ("train", *SMALL, "--steps", 1000000, "--tensorboard", "curves", "--output", "none")
        job = cli.Job([cli.RANKLAB, *words], cwd=self.folder)
        curves = self.folder / "curves"
        job.wait_until(lambda: any(len(events(path)) > 20 for path in curves.glob("*")))
        job.kill()
        self.assertGreater(len(scalars(self.folder / "curves")["Loss/train"]), 15)

    def test_a_folder_has_the_curves_of_one_run(self):
        words = ("--tensorboard", "curves", "--checkpoint", "checkpoint")
        self.train(*words, "--steps", 20)
        self.assertSays(self.train("--tensorboard", "curves", "--steps", 20, code=2), 2, "curves")
        self.train(*words, "--steps", 40, "--resume")
        (path,) = (self.folder / "curves").glob("*")
        starts = [event[2] for event in events(path) if 7 in event]
        self.assertEqual(starts, [1, 21])
        self.assertEqual(list(scalars(self.folder / "curves")["Loss/train"]), [1, 11, 21, 31])

    def test_traces_nest_and_name_their_rank(self):
        self.train("--steps", 12, "--trace", "t.json", "--trace-window", "5:2", "--workers", 1, "--inject-delay", "1:forward:30", ranks=2)
        for rank in (0, 1):
            text = (self.folder / f"t.rank{rank}.json").read_text()
            self.assertIn(f'"rank": {rank}', text)
            found = [event for event in json.loads(text)["traceEvents"]]
            self.assertTrue(all(event["bp"] == "e" for event in found if event["ph"] == "f"))
            spans = sorted((event["pid"], event["tid"], event["ts"], -event["dur"], event["name"]) for event in found if event.get("cat") in ("cpu_op", "user_annotation"))
            open_spans = []
            for *thread, start, negative, name in spans:
                open_spans = [span for span in open_spans if span[0] == thread and span[1] > start + 1e-3]
                self.assertTrue(not open_spans or start - negative <= open_spans[-1][1] + 1e-3, f"{name} crosses the end of the span that it begins in")
                open_spans.append((thread, start - negative))
            marks = [event for event in found if event.get("cat") == "user_annotation"]
            count = collections.Counter(event["name"] for event in marks)
            self.assertEqual({name: count[name] for name in ("data", "copy", "forward", "backward", "sync", "optimizer")},
                             dict.fromkeys(("data", "copy", "forward", "backward", "sync", "optimizer"), 2))
            self.assertEqual({name for name in count if name.startswith("ProfilerStep#")}, {"ProfilerStep#5", "ProfilerStep#6"})
            self.assertGreater(count["reduce a bucket"], 0)
            self.assertGreater(count["loader: read samples"], 0)
            delayed = min(event["dur"] for event in marks if event["name"] == "forward") > 30000
            self.assertEqual(delayed, rank == 1, "us of the injected delay")
        merged = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in merged if event["name"] == "process_name"}
        self.assertEqual({name.split(":")[0] for name in names.values()}, {"rank 0", "rank 1"})
        tables, _ = self.tables()
        self.assertIn(b"aten::mm", tables["operators"]["operator"])

    def test_nvtx_ranges_are_those_of_the_window(self):
        counter = cli.BIN.parent / "tests" / "libnvtx_counter.so"
        if not counter.exists():
            self.skipTest("this build has no NVTX headers")
        out = self.folder / "ranges"
        self.train("--steps", 8, "--nvtx", "--trace-window", "4:3", env=cli.environment(NVTX_INJECTION64_PATH=counter, NVTX_COUNTER=out))
        count = collections.Counter(line.split(",")[0] for line in out.read_text().splitlines())
        for name in ("data", "copy", "forward", "backward", "sync", "optimizer"):
            self.assertEqual(count[name], 3, name)
        self.assertEqual([count[f"ProfilerStep#{step}"] for step in (3, 4, 5, 6, 7)], [0, 1, 1, 1, 0])
        self.assertGreater(count["aten::addmm"], 0)

    def test_layers_add_up_to_forward_and_backward(self):
        for ranks in (1, 2):
            result = self.train("--steps", 20, "--profile", "lines,layers", ranks=ranks)
            self.assertIn("conv2", result.stdout)
            tables, samples = self.tables()
            layers = tables["layers"]
            self.assertEqual([row["layer"].decode() for row in layers], ["conv1", "conv2", "fc1", "fc2"])
            phases = {row["phase"].decode(): row["per_hit_s"] for row in tables["phases"]}
            for phase in ("forward", "backward"):
                total = sum(row[f"{phase}_s"] for row in layers)
                self.assertLess(abs(total - phases[phase]), 0.05 * phases[phase], phase)
            # 4 images of 28 x 28: 4 and 8 filters of 3 x 3, then 8 x 12 x 12 to 16 to 10.
            self.assertEqual([int(row["forward_flops"]) for row in layers],
                             [2 * 4 * 26 * 26 * 4 * 9, 2 * 4 * 24 * 24 * 8 * 4 * 9, 2 * 4 * 8 * 12 * 12 * 16, 2 * 4 * 16 * 10])
            ready = [row["gradient_ready_s"] for row in layers]
            self.assertEqual(sorted(ready, reverse=True), ready, "backward goes from the last layer to the first")

    def test_monitor_agrees_with_what_the_processes_used(self):
        before = self.cpu_of_children_s()
        self.train("--steps", 150, "--monitor", 0.1, "--batch-size", 32, "--width", 1, ranks=2, env=cli.environment(RANKLAB_SYSTEM_ROOT="/"))
        whole_s = self.cpu_of_children_s() - before
        tables, _ = self.tables()
        whole_used = 0
        rows = tables["monitor"]
        self.assertEqual(set(rows["rank"]), {-1, 0, 1})
        for rank in (0, 1):
            mine = rows[rows["rank"] == rank]
            seconds = mine["time_s"] - [0, *mine["time_s"][:-1]]
            used = (mine["cpu_percent"] / 100 * seconds).sum()
            (job,) = tables["job_use"][tables["job_use"]["rank"] == rank]
            self.assertGreater(used, 0.8 * job["cpu_s"], "the counted part is a part of what is monitored; ticks are of 10 ms")
            whole_used += used
            self.assertLess(mine["rss_bytes"].max(), 1.1 * job["peak_rss_bytes"])
            self.assertGreater(mine["rss_bytes"].max(), 0.8 * job["peak_rss_bytes"])
        self.assertLess(whole_used, 1.02 * whole_s, "the processes used no more than the whole launch")

    def test_layers_where_a_rank_has_no_samples(self):
        self.train("--epochs", 2, "--train-samples", 1, "--batch-size", 1, "--sharding", "exact", "--profile", "layers", "--evaluate", "off", ranks=2)
        self.assertEqual(len(self.tables()[0]["layers"]), 4)

    def test_a_recurrent_layer_has_its_row(self):
        cli.modules("torch")
        import own_networks

        own_networks.export("lstm", self.folder)
        self.train(*own_networks.options("lstm"), "--width", 1, "--steps", 6, "--profile", "layers")
        layers = self.tables()[0]["layers"]
        self.assertEqual([row["layer"].decode() for row in layers], ["lstm", "head"])
        # Of 4 samples in fp32: 16 numbers after each of 12 steps, and the first and last two states.
        self.assertEqual(int(layers[0]["activation_bytes"]), 4 * 4 * 16 * (12 + 2 + 2))
        self.assertAlmostEqual(sum(row["percent"] for row in layers), 100, 6)

    def test_a_refused_run_leaves_no_curves(self):
        self.train("--steps", 5, "--tensorboard", "curves", "--trace", "t.json", "--trace-window", "4:3", code=2)
        self.train("--steps", 5, "--tensorboard", "curves")

    def test_monitor_needs_no_value(self):
        self.train("--steps", 5, "--monitor")
        self.assertIn("monitor", self.tables()[0])

    def test_impossible_options(self):
        for words, sentence in ((("--profile", "line"), "--profile line: give lines, layers, or both"),
                                (("--tensorboard", "c", "--ablation"), "--tensorboard"), (("--trace", "t"), "FILE.json"),
                                (("--trace", "t.json", "--steps", 5, "--trace-window", "4:3"), "within the run's steps, 1 to 5"), (("--profile", "lines", "--ablation"), "--profile"), (("--nvtx", "--trace", "t.json"), "LibTorch has one profiler at a time"), (("--profile", "layers", "--jit"), "--cuda-graph")):
            self.assertSays(self.train(*words, code=2), 2, sentence)


if __name__ == "__main__":
    unittest.main()
