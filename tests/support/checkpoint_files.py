"""Reads and writes checkpoints without ranklab, by docs/checkpoint.md."""

import io
import json
import zlib

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")

SCHEMA = 4
CHECKSUM = 8  # hexadecimal digits after the HDF5 file


def sealed(image):
    """Returns an HDF5 file with its checksum."""
    return image + f"{zlib.crc32(image):08x}".encode()


class Checkpoint:
    """steps, settings {name: value}, and arrays {"parameters/x": array, "optimizer/kind/x": array, ...}."""

    def __init__(self, content):
        self.schema = SCHEMA
        self.arrays = {}
        self.claims = {}  # shapes of arrays that are not written, by path
        with h5py.File(io.BytesIO(content)) as file:
            self.steps = int(file.attrs["completed_steps"])
            self.settings = json.loads(file.attrs["settings_json"])
            file.visititems(lambda path, item: self.arrays.__setitem__(path, item[()]) if isinstance(item, h5py.Dataset) else None)

    def move(self, old, new):
        """Renames an array, or all arrays below a group."""
        self.arrays = {new + path[len(old) :] if path == old or path.startswith(old + "/") else path: values for path, values in self.arrays.items()}

    def content(self):
        """Returns the file's bytes."""
        image = io.BytesIO()
        with h5py.File(image, "w") as file:
            file.attrs.update({"ranklab_checkpoint_schema": self.schema, "completed_steps": self.steps, "settings_json": json.dumps(self.settings)})
            for group in ("parameters", "buffers", "optimizer", "ranks"):
                file.create_group(group)
            for path, values in self.arrays.items():
                if path in self.claims:
                    file.create_dataset(path, self.claims[path], values.dtype)
                else:
                    file[path] = values
        return sealed(image.getvalue())
