from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from longmind.errors import ModelMissing
from longmind.models.tensor_file import read_tensors


def _saved(path: Path) -> dict[str, np.ndarray]:
    tensors = {
        "halves": np.arange(6, dtype=np.float16).reshape(2, 3),
        "bytes": np.frombuffer(b"abc", np.uint8),
        "floats": np.arange(4, dtype=np.float32),
    }
    save_file(tensors, path, metadata={"source": "a test"})
    return tensors


def test_what_safetensors_writes_is_read(tmp_path: Path) -> None:
    expected = _saved(tmp_path / "some.safetensors")
    tensors = read_tensors(tmp_path / "some.safetensors")
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, expected[name])
        assert tensor.dtype == expected[name].dtype
        assert not tensor.flags.writeable


@pytest.mark.parametrize("length", [0, 5, 60, -4])
def test_a_damaged_file_says_so(tmp_path: Path, length: int) -> None:
    path = tmp_path / "some.safetensors"
    _saved(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelMissing, match="damaged"):
        read_tensors(path)


def test_an_absent_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"lacks some\.safetensors"):
        read_tensors(tmp_path / "some.safetensors")
