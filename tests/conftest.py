"""Before torch is loaded: some virtual machines report AMX and then kill the process that uses it in bfloat16."""

from __future__ import annotations

import os

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
