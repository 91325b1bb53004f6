"""Checkpoints taken apart and put together again without ranklab: docs/checkpoint.md, written down a second time."""

import struct
import zlib

import ranklab_cli as cli

(np,) = cli.modules("numpy")

HEADER = 512  # bytes before the HDF5 part
TYPES = {"uint8": "u1", "int32": "<i4", "int64": "<i8", "float32": "<f4", "float64": "<f8"}


def sealed(data, index, schema="schema 2: "):
    """The file of these two parts, with the checksum that they have."""
    rest = data + index
    text = f"ranklab checkpoint\n{schema}HDF5 from byte {HEADER} on: {len(data)} bytes, then an index: {len(index)} bytes, crc32 {zlib.crc32(rest):08x}\n"
    return text.encode().ljust(HEADER, b"\0") + rest


def parts(content):
    """(HDF5, index) of a file's bytes."""
    line = content[:HEADER].split(b"\n")[1].decode()
    size = int(line.split(" on: ")[1].split()[0])
    return content[HEADER : HEADER + size], content[HEADER + size :]


class _Index:
    def __init__(self, data, index):
        self.data, self.index, self.at = data, index, 0

    def number(self):
        self.at += 8
        return struct.unpack_from("<q", self.index, self.at - 8)[0]

    def text(self):
        size = self.number()
        self.at += size
        return self.index[self.at - size : self.at]

    def array(self):
        name, kind = self.text().decode(), TYPES[self.text().decode()]
        shape = tuple(self.number() for _ in range(self.number()))
        offset = self.number()
        return name, offset, np.frombuffer(self.data, kind, int(np.prod(shape)), offset).reshape(shape).copy()


class Checkpoint:
    """steps, settings [(name, value)] as bytes, and arrays {"parameters/x": array, "optimizer/kind/x": array, ...}."""

    def __init__(self, content):
        data, index = parts(content)
        read = _Index(data, index)
        self.steps = read.number()
        self.settings = [(read.text(), read.text()) for _ in range(read.number())]
        self.arrays, self.offsets = {}, {}  # of each, by its path
        self.claims = {}  # shapes that are not the arrays' own
        for group in ("parameters", "buffers"):
            self._arrays(read, group)
        for group in ("optimizer", "ranks"):
            for _ in range(read.number()):
                self._arrays(read, f"{group}/{read.text().decode()}")
        if read.at != len(index):
            raise AssertionError(f"{len(index) - read.at} bytes are left of the index")

    def _arrays(self, read, group):
        for _ in range(read.number()):
            name, offset, values = read.array()
            self.offsets[f"{group}/{name}"], self.arrays[f"{group}/{name}"] = offset, values

    def move(self, old, new):
        """Renames an array, or all below a group."""
        self.arrays = {new + path[len(old) :] if path == old or path.startswith(old + "/") else path: values for path, values in self.arrays.items()}

    def content(self):
        """The file's bytes. What was HDF5 is the arrays alone, one behind the other: nobody reads more of it."""
        data, index = bytearray(), bytearray()

        def number(value):
            index.extend(struct.pack("<q", value))

        def text(value):
            number(len(value))
            index.extend(value)

        def add(group):
            own = {path[len(group) + 1 :]: values for path, values in self.arrays.items() if path.rpartition("/")[0] == group}
            number(len(own))
            for name, values in own.items():
                text(name.encode())
                text(str(values.dtype).encode())
                shape = self.claims.get(f"{group}/{name}", values.shape)
                number(len(shape))
                for extent in shape:
                    number(extent)
                number(len(data))
                data.extend(values.tobytes())

        number(self.steps)
        number(len(self.settings))
        for name, value in self.settings:
            text(name)
            text(value)
        add("parameters")
        add("buffers")
        for group in ("optimizer", "ranks"):
            sets = list(dict.fromkeys(path.split("/")[1] for path in self.arrays if path.startswith(group + "/")))
            number(len(sets))
            for name in sets:
                text(name.encode())
                add(f"{group}/{name}")
        return sealed(bytes(data), bytes(index))
