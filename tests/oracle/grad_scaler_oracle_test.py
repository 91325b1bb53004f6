"""PyTorch's torch.amp.GradScaler as the oracle: equal gradients, some infinite or NaN, give equal scales, skipped steps and
parameters, bit by bit."""

import os
import random
import subprocess
import unittest

import ranklab_cli as cli

(torch,) = cli.modules("torch")

REPLAY = os.environ["RANKLAB_REPLAY"]


def sequence(seed, steps):
    """Gradients of three elements; about every seventh is not finite, some overflow after scaling."""
    numbers = random.Random(seed)
    lines = []
    for _ in range(steps):
        line = [numbers.uniform(-1, 1) for _ in range(3)]
        kind = numbers.randrange(14)
        if kind == 0:
            line[numbers.randrange(3)] = numbers.choice([float("inf"), float("-inf"), float("nan")])
        elif kind == 1:
            line[numbers.randrange(3)] = 1e36
        lines.append(line)
    return lines


def oracle(lines, init, growth, backoff, interval, lr):
    parameter = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    optimizer = torch.optim.SGD([parameter], lr=lr, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=init, growth_factor=growth, backoff_factor=backoff, growth_interval=interval)
    rows = []
    for line in lines:
        optimizer.zero_grad()
        scaler.scale((parameter * torch.tensor(line)).sum()).backward()
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        made = 0 if scaler.get_scale() < before else 1
        rows.append((made, scaler.get_scale(), scaler.state_dict()["_growth_tracker"], *parameter.tolist()))
    return rows


class GradScaler(unittest.TestCase):
    def check(self, seed, steps, *settings):
        lines = sequence(seed, steps)
        text = "".join(" ".join(repr(x) for x in line) + "\n" for line in lines)
        result = subprocess.run([REPLAY, *map(str, settings)], input=text, capture_output=True, text=True, timeout=120, check=True)
        mine = [tuple(map(float, row.split())) for row in result.stdout.splitlines()]
        expected = oracle(lines, *settings)
        self.assertEqual(len(mine), len(expected))
        for step, (row, wanted) in enumerate(zip(mine, expected)):
            self.assertEqual(row[:3], tuple(map(float, wanted[:3])), f"step {step} (made, scale, growth tracker)")
            for ours, theirs in zip(row[3:], wanted[3:]):
                self.assertEqual(torch.tensor(ours), torch.tensor(theirs), f"parameters after step {step}")
        skipped = sum(1 for row in expected if row[0] == 0)
        self.assertTrue(0 < skipped < steps, skipped)
        return expected

    def test_the_default_settings_and_others(self):
        """A scale that grows and falls, factors that are not powers of two, growth in every step."""
        for seed, settings in enumerate(((65536.0, 2.0, 0.5, 2000, 0.01), (1000.0, 2.0, 0.5, 4, 0.01), (3.7, 1.9, 0.37, 3, 0.05), (1.0, 16.0, 0.1, 1, 0.01))):
            with self.subTest(settings=settings):
                scales = {row[1] for row in self.check(seed + 1, 100, *settings)}
                self.assertGreater(len(scales), 2)


if __name__ == "__main__":
    unittest.main()
