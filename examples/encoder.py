"""Build the lesson's encoder at a prompt, look at its attention: the same lines work in a notebook."""

import torch

import glassformer as gf

block = gf.EncoderBlock(d_model=512, n_heads=8, d_ff=2048, dropout=0.1, norm_order="pre", activation="gelu").eval()
encoder = gf.Encoder(
    d_model=256, n_heads=8, d_ff=1024, n_layers=6, max_len=5000, dropout=0.1, norm_order="pre", activation="gelu"
).eval()


def shape(x: torch.Tensor) -> str:
    return "×".join(map(str, x.shape))


def parameters(module: torch.nn.Module) -> str:
    return f"{sum(p.numel() for p in module.parameters()):,}"


x = torch.randn(2, 16, 512)
with gf.record(block) as trace:
    y = block(x)
(attention,) = trace.attention()
print(f"EncoderBlock  {parameters(block):>10}  {shape(x)} → {shape(y)}")
print(f"              attention {shape(attention)}, mean over heads {shape(attention.mean(1))}")

x = torch.randn(2, 16, 256)
with gf.record(encoder) as trace:
    y = encoder(x)
print(f"Encoder       {parameters(encoder):>10}  {shape(x)} → {shape(y)}")
print(f"              {len(trace.attention())} maps of {shape(trace.attention()[0])}")
