"""Texts as tokens: the three formats train alike, the synthetic text has the entropy that it is said to have, and a wrong file is one sentence."""

import json
import os
import re
import struct
import subprocess
import sys
import unittest

import ranklab_cli as cli
from data_files import data

np, h5py = cli.modules("numpy", "h5py")

SYMBOLS, ENTROPY = 64, 1.75 * np.log(2)


def llmc(tokens, version=1, count=None):
    header = np.zeros(256, "<i4")
    header[:3] = 20240520, version, len(tokens) if count is None else count
    return header.tobytes() + tokens.astype("<u2").tobytes()


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return -(p * np.log(p)).sum()


class Text(cli.Case):
    def test_a_made_text_is_the_same_at_any_rank_count_and_has_its_entropy(self):
        tokens = 1_000_003
        for ranks in (1, 3):
            self.assertCode(data("make", "tokens", f"{ranks}.bin", "--length", tokens, "--quiet", ranks=ranks, cwd=self.folder), 0)
        made = (self.folder / "1.bin").read_bytes()
        self.assertEqual(made, (self.folder / "3.bin").read_bytes())
        self.assertEqual(struct.unpack("<3i", made[:12]), (20240520, 1, tokens))
        text = np.frombuffer(made[1024:], "<u2").astype(np.int64)
        self.assertEqual(len(text), tokens)
        pairs = text[:-2] * SYMBOLS + text[1:-1]
        triples = np.bincount(pairs * SYMBOLS + text[2:], minlength=SYMBOLS**3)
        alone = entropy(np.bincount(text, minlength=SYMBOLS))
        after_two = entropy(triples) - entropy(triples.reshape(-1, SYMBOLS).sum(1))
        # Counts of a finite text show less than the entropy, by (cells - pairs) / (2 tokens).
        self.assertAlmostEqual(after_two, ENTROPY, delta=0.02)
        self.assertGreater(alone, ENTROPY + 1)
        verdict = data("verify", "1.bin", cwd=self.folder)
        self.assertCode(verdict, 0)
        self.assertIn(f"{tokens} tokens, the largest {text.max()}", verdict.stdout)
        (self.folder / "cut.bin").write_bytes(made[:-2])
        self.assertCode(data("verify", "cut.bin", cwd=self.folder), 3)


@cli.needs_train
class Training(cli.Case):
    def train(self, *words, ranks=1):
        return cli.ranklab("train", "--model", "llama-debug", "--width", 16, "--sequence-length", 16, "--data", "tokens", "--batch-size", 2, "--steps", 3,
                           "--warmup", 0, "--threads", 1, "--overlap-steps", 0, "--peak-tflops", 0.5, "--profile", "layers", *words, ranks=ranks, cwd=self.folder)

    def test_the_formats_train_alike_and_tokens_are_counted(self):
        tokens = np.random.default_rng(1).integers(0, 2048, 2000)
        (self.folder / "raw.bin").write_bytes(tokens.astype("<u2").tobytes())
        (self.folder / "llmc.bin").write_bytes(llmc(tokens))
        np.save(self.folder / "text.npy", tokens)
        losses = []
        for name in ("raw.bin", "llmc.bin", "text.npy"):
            result = self.train("--inputs", name, "--output", f"{name}.h5", ranks=2)
            self.assertCode(result, 0)
            with h5py.File(self.folder / f"{name}.h5") as file:
                (run,) = file["runs"].values()
                losses.append(run["samples/train_loss"][()])
                layers = {row["layer"].decode(): int(row["forward_flops"]) for row in run["tables/layers"]}
                samples, rate, mfu = (run[f"samples/{one}"][()] for one in ("throughput_samples_per_s", "tokens_per_s", "mfu_percent"))
        for i in range(6):  # 2 samples: two products over all pairs of 16 tokens, in 16 channels
            self.assertEqual(layers[f"layers{i}.attention"], 2 * 2 * 2 * 16 * 16 * 16)
        self.assertIn("FLOPs per token (6 N + 12 layers x heads x head x tokens", result.stdout)
        page = cli.ranklab("report", "text.npy.h5", "--format", "html", "--output", "page.html", cwd=self.folder)
        self.assertCode(page, 0)
        for text in (result.stdout, (self.folder / "page.html").read_text()):
            self.assertRegex(" ".join(text.split()), r"tokens/s; MFU [\d.]+ % of 0\.5 TFLOP/s \(--peak-tflops\)")
        shown = cli.ranklab("report", "text.npy.h5", "--format", "json", cwd=self.folder)
        flops = float(json.loads(shown.stdout)["runs"][0]["context"]["training"]["flops_per_token"])
        np.testing.assert_array_equal(losses[0], losses[1])
        np.testing.assert_array_equal(losses[0], losses[2])
        np.testing.assert_allclose(rate, 16 * samples, rtol=1e-12)
        np.testing.assert_allclose(mfu, 100 * flops * rate / (2 * 0.5e12), rtol=1e-5)
        wide, layers, hidden, vocabulary = 16, 6, 48, 2048
        parameters = vocabulary * wide + layers * (4 * wide * wide + 3 * wide * hidden + 2 * wide) + wide  # without the embedding
        self.assertAlmostEqual(flops / (6 * parameters + 12 * layers * wide * 16), 1, delta=1e-5)

    def test_a_peak_that_was_measured_beside_other_load_is_doubted(self):
        core = ("taskset", "-c", min(os.sched_getaffinity(0)))
        words = ("--model", "llama-debug", "--width", 16, "--sequence-length", 16, "--batch-size", 2, "--steps", 2, "--warmup", 0, "--threads", 1)
        with subprocess.Popen([*map(str, core), sys.executable, "-c", "while True: pass"]) as load:
            try:
                # The tests' environment hides the kernel's counts of waits for cores.
                result = cli.run(*core, cli.RANKLAB, "train", *words, cwd=self.folder, env=cli.environment(RANKLAB_SYSTEM_ROOT="/"))
            finally:
                load.kill()
        self.assertCode(result, 0)
        shown = cli.ranklab("report", "--format", "json", cwd=self.folder)
        (run,) = json.loads(shown.stdout)["runs"]
        self.assertRegex(run["context"]["training"]["peak_source"], r"too low: they waited for a core for \d+ %")

    def test_a_wrong_file_is_one_sentence_with_the_place(self):
        tokens = np.arange(400) % 2000
        beyond = tokens.copy()
        beyond[377] = 2048
        negative = tokens.copy()
        negative[5] = -1
        files = {"beyond.bin": (beyond.astype("<u2").tobytes(), "token 377 of"), "cut.bin": (llmc(tokens)[:-2], "400 tokens"),
                 "version.bin": (llmc(tokens, version=7), "version 7"), "count.bin": (llmc(tokens, count=-5), "-5 tokens"),
                 "odd.bin": (tokens.astype("<u2").tobytes() + b"x", "odd"), "short.bin": (tokens[:16].astype("<u2").tobytes(), "16 tokens"),
                 "empty.bin": (b"", "0 tokens"), "missing.bin": (None, "missing.bin")}
        for name, array in (("float.npy", tokens * 1.0), ("square.npy", tokens.reshape(20, 20)), ("negative.npy", negative)):
            np.save(self.folder / name, array)
            files[name] = (None, {"float.npy": "float64", "square.npy": "[20, 20]", "negative.npy": "token 5 of"}[name])
        for name, (content, word) in files.items():
            with self.subTest(name):
                if content is not None:
                    (self.folder / name).write_bytes(content)
                result = self.train("--inputs", name, "--output", "none", ranks=2)
                self.assertCode(result, 3)
                self.assertIn(word, result.stderr)
                self.assertEqual(len(re.findall(r"^rank \d+ on \S+: ", result.stderr, re.M)), 1, result.stderr)

    def test_options_that_fit_no_language_model_are_refused(self):
        for model, option, value in (("mnist-cnn", "--sequence-length", 16), ("llama-debug", "--image-size", 32), ("mnist-cnn", "--peak-tflops", 1),
                                     ("llama-debug", "--width", 5)):
            result = cli.ranklab("train", "--model", model, "--steps", 1, "--output", "none", option, value, cwd=self.folder)
            self.assertCode(result, 2)
            self.assertIn(option[2:], result.stderr)


if __name__ == "__main__":
    unittest.main()
