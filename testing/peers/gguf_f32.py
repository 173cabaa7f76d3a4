"""Writes a GGUF file with the same weights in F32: the form in which engines can be compared exactly.

    python testing/peers/gguf_f32.py IN.gguf OUT.gguf        needs the PyPI package `gguf`

llama.cpp quantises activations too where weights are quantised, and computes in F16 where they are F16.
"""
import sys

import gguf
import numpy as np

SKIPPED = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture", "general.file_type")


def main():
    source = gguf.GGUFReader(sys.argv[1])
    writer = gguf.GGUFWriter(sys.argv[2], source.fields["general.architecture"].contents())
    for name, field in source.fields.items():
        if name not in SKIPPED:
            kind, inner = field.types[0], field.types[-1]
            writer.add_key_value(name, field.contents(), kind, inner if kind == gguf.GGUFValueType.ARRAY else None)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in source.tensors:
        plain = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, np.ascontiguousarray(plain, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    sys.exit(main())
