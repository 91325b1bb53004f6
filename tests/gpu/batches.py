"""The first batch of `ranklab train --data synthetic --shuffle off`, equal bit by bit, made with torch from lib/data's formula."""

import math

import torch

GOLDEN = 0x9E3779B97F4A7C15
WORDS = 312  # of the 64-bit Mersenne Twister


def signed(value):
    """Returns 64 bits as torch's int64."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def shifted(x, bits):
    """Unsigned right shift."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def remainder(x, n):
    """Unsigned modulo, n below 2^31."""
    return (shifted(x, 1) % n * 2 + (x & 1)) % n


class Twister:
    """C++'s std::mt19937_64, in blocks."""

    def __init__(self, seed):
        state = [seed & ((1 << 64) - 1)]
        for i in range(1, WORDS):
            state.append((6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i) & ((1 << 64) - 1))
        self.state = torch.tensor([signed(word) for word in state])
        self.left = torch.empty(0, dtype=torch.int64)

    def twist(self):
        old = self.state
        lower, upper, matrix = 0x7FFFFFFF, ~0x7FFFFFFF, signed(0xB5026F5AA96619E9)

        def mix(a, b):
            y = (a & upper) | (b & lower)
            return shifted(y, 1) ^ ((y & 1) * matrix)

        half = WORDS // 2
        first = old[half:] ^ mix(old[:half], old[1 : half + 1])
        second = first ^ mix(old[half:], torch.cat([old[half + 1 :], first[:1]]))
        self.state = torch.cat([first, second])
        y = self.state
        y = y ^ (shifted(y, 29) & 0x5555555555555555)
        y = y ^ ((y << 17) & 0x71D67FFFEDA60000)
        y = y ^ ((y << 37) & signed(0xFFF7EEE000000000))
        return y ^ shifted(y, 43)

    def take(self, count):
        blocks, have = [self.left], len(self.left)
        while have < count:
            blocks.append(self.twist())
            have += WORDS
        words = torch.cat(blocks)
        self.left = words[count:]
        return words[:count]


def class_images(count, channels, edge, classes, seed):
    """Returns bytes [count, channels, edge, edge] and labels: per class a pattern of coarse blocks, plus noise (data/sources/synthetic.cpp)."""
    coarse = (edge + 3) // 4
    words = Twister(seed).take(classes * channels * coarse * coarse)
    coarse_patterns = remainder(words, 200).view(classes, channels, coarse, coarse)
    random = Twister(seed * 1000003 + 1)
    pixels = channels * edge * edge
    labels, images = [], []
    for _ in range(count):
        label = int(remainder(random.take(1), classes))
        words = random.take((pixels + 7) // 8)
        noise = torch.stack([shifted(words, 8 * byte) & 0xFF for byte in range(8)], 1).flatten()[:pixels] // 2 - 64
        pattern = coarse_patterns[label].repeat_interleave(4, 1).repeat_interleave(4, 2)[:, :edge, :edge].flatten()
        images.append((pattern + noise).clamp_(0, 255).view(channels, edge, edge))
        labels.append(label)
    return torch.stack(images), torch.tensor(labels)


def mix64(x):
    """splitmix64's finaliser for an int64 tensor."""
    x = (x ^ shifted(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * signed(0x94D049BB133111EB)
    return x ^ shifted(x, 31)


def mixed(value):
    return int(mix64(torch.tensor([signed(value + GOLDEN)]))[0]) & ((1 << 64) - 1)


def normal_numbers(count, seed):
    counter = torch.arange(1, count + count % 2 + 1) * signed(GOLDEN) + signed(seed)
    uniform = (shifted(mix64(counter), 11) + 1).double() * 2.0**-53
    radius, angle = (-2 * uniform[0::2].log()).sqrt(), 2 * math.pi * uniform[1::2]
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1).flatten().float()


def volumes(count, edge, seed):
    """Returns inputs [count, 4, edge^3] and targets [count, 5, edge^3]: windows of one pool of normal numbers (data/sources/synthetic.cpp)."""
    sizes = [(4, edge, edge, edge), (5, edge, edge, edge)]
    pool = normal_numbers(2 * math.prod(sizes[1]), seed)
    fields = [[], []]
    for position in range(count):
        state = mixed(mixed(mixed(seed)) ^ position)  # epoch 0
        for field, shape in zip(fields, sizes):
            state = (state + GOLDEN) & ((1 << 64) - 1)
            word = int(mix64(torch.tensor([signed(state)]))[0]) & ((1 << 64) - 1)
            numbers = math.prod(shape)
            begin = word * (len(pool) - numbers + 1) >> 64
            field.append(pool[begin : begin + numbers].view(shape))
    return torch.stack(fields[0]), torch.stack(fields[1])


def tokens(count, length, vocabulary, seed):
    """Returns inputs and targets [count, length]: numbers below the vocabulary's size, of one stream per sample (data/sources/synthetic.cpp)."""
    fields = []
    for position in range(count):
        state = mixed(mixed(mixed(seed)) ^ position)  # epoch 0
        words = mix64(torch.arange(1, 2 * length + 1) * signed(GOLDEN) + signed(state))
        fields.append(shifted(shifted(words, 32) * vocabulary + shifted((words & 0xFFFFFFFF) * vocabulary, 32), 32).view(2, length))
    return torch.stack(fields, 1).unbind()


def first_batch(model, count, edge=None, seed=1):
    """Returns (input, targets) of the network."""
    if model == "gpt2-124m":
        return tokens(count, edge or 1024, 50257, seed)
    if model == "unet3d":
        return volumes(count, edge or 64, seed)
    channels, edge, classes = (1, edge or 28, 10) if model == "mnist-cnn" else (3, edge or 224, 100)
    images, labels = class_images(count, channels, edge, classes, seed)
    return (images.double() / 255 - 0.5).div(0.25).float(), labels
