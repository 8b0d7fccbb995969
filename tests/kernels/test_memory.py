"""Freed memory stays at hand: large results that come and go cost no new pages."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource, torch
from glassformer.kernels.memory import keep_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        several = [torch.empty(1 << 20).fill_(0) for _ in range(12)]
        del several
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if {keep}:
    keep_memory()
pages()
print(pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_large_results_are_the_same_pages_again() -> None:
    def pages(keep: bool) -> int:
        script = SCRIPT.format(keep=keep)
        return int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout)

    freed = max(pages(keep=False) for _ in range(3))
    if freed < 1000:  # some block that was freed while torch was imported
        pytest.skip("the allocator has learnt it already")
    assert 10 * min(pages(keep=True) for _ in range(3)) < freed
