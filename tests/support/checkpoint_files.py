"""Reads and writes checkpoints without ranklab, by docs/checkpoint.md."""

import json
import zlib

import ranklab_cli as cli

(np,) = cli.modules("numpy")

HEADER = 512  # bytes before the HDF5 part
TYPES = {"uint8": "u1", "int32": "<i4", "int64": "<i8", "fp32": "<f4", "fp64": "<f8"}


def sealed(data, index, schema="schema 3: "):
    """Returns the file of these two parts with its checksum."""
    rest = data + index
    text = f"ranklab checkpoint\n{schema}HDF5 from byte {HEADER} on: {len(data)} bytes, then an index: {len(index)} bytes, crc32 {zlib.crc32(rest):08x}\n"
    return text.encode().ljust(HEADER, b"\0") + rest


def parts(content):
    """Returns (HDF5 part, index) of a file's bytes."""
    line = content[:HEADER].split(b"\n")[1].decode()
    size = int(line.split(" on: ")[1].split()[0])
    return content[HEADER : HEADER + size], content[HEADER + size :]


class Checkpoint:
    """steps, settings [(name, value)] as bytes, and arrays {"parameters/x": array, "optimizer/kind/x": array, ...}."""

    def __init__(self, content):
        data, index = parts(content)
        read = json.loads(index)
        self.steps = read["completed_steps"]
        self.settings = [(name.encode(), value.encode()) for name, value in read["settings"].items()]
        self.arrays, self.offsets = {}, {}  # offset of each array, by its path
        self.claims = {}  # false shapes, by the array's path
        groups = {group: read[group] for group in ("parameters", "buffers")}
        groups |= {f"{group}/{one['name']}": one["arrays"] for group in ("optimizer", "ranks") for one in read[group]}
        for group, entries in groups.items():
            for entry in entries:
                path, shape = f"{group}/{entry['name']}", entry["shape"]
                self.offsets[path] = entry["begin"]
                self.arrays[path] = np.frombuffer(data, TYPES[entry["type"]], int(np.prod(shape)), entry["begin"]).reshape(shape).copy()

    def move(self, old, new):
        """Renames an array, or all arrays below a group."""
        self.arrays = {new + path[len(old) :] if path == old or path.startswith(old + "/") else path: values for path, values in self.arrays.items()}

    def content(self):
        """Returns the file's bytes. The HDF5 part is the bare arrays, one after the other: ranklab reads nothing else of it."""
        data = bytearray()

        def entries(group):
            own = []
            for path, values in self.arrays.items():
                if path.rpartition("/")[0] == group:
                    kind = next(word for word, kind in TYPES.items() if np.dtype(kind) == values.dtype)
                    own.append({"name": path[len(group) + 1 :], "type": kind, "shape": list(self.claims.get(path, values.shape)), "begin": len(data)})
                    data.extend(values.tobytes())
            return own

        def sets(group):
            names = dict.fromkeys(path.split("/")[1] for path in self.arrays if path.startswith(group + "/"))
            return [{"name": name, "arrays": entries(f"{group}/{name}")} for name in names]

        index = {"completed_steps": self.steps, "settings": {name.decode(): value.decode() for name, value in self.settings},
                 "parameters": entries("parameters"), "buffers": entries("buffers"), "optimizer": sets("optimizer"), "ranks": sets("ranks")}
        return sealed(bytes(data), json.dumps(index).encode())
