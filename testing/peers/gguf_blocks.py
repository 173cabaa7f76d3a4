"""Makes src/gyre/tensor/testdata/gguf_blocks.json: blocks of random bytes of every quantised ggml type
that gyre reads, with the float32 values that gguf-py's dequantize gives. Needs gguf and numpy.

usage: gguf_blocks.py > src/gyre/tensor/testdata/gguf_blocks.json
"""
import json

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# Byte offsets of the half-precision scales in a block.
SCALES = {Type.Q8_0: [0], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2],
          Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208]}
# Usual, the largest, the smallest subnormal, zero, negative: as half precision.
EXTREMES = [0.0123, 65504.0, 2.0 ** -24, 0.0, -1.5]


def main():
    random = np.random.default_rng(6)
    types = []
    for kind, places in SCALES.items():
        items, n_bytes = gguf.GGML_QUANT_SIZES[kind]
        n_blocks = 3 if items == 256 else len(EXTREMES)
        rows = random.integers(0, 256, (n_blocks, n_bytes), dtype=np.uint8)
        for i, row in enumerate(rows):
            for k, place in enumerate(places):
                scale = np.float16(EXTREMES[(i + 2 * k) % len(EXTREMES)])
                row[place:place + 2] = np.frombuffer(scale.tobytes(), np.uint8)
        values = gguf.dequantize(rows, kind).astype(np.float32)
        types.append({"type": kind.name, "id": int(kind), "items": items,
                      "bytes": rows.tobytes().hex(), "float32": values.tobytes().hex()})
    print(json.dumps({"source": "gguf.dequantize of gguf-py 0.19, by testing/peers/gguf_blocks.py",
                      "types": types}, indent=1))


if __name__ == "__main__":
    main()
