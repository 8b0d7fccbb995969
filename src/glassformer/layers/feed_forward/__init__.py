"""The feed-forward networks."""

from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.layers.feed_forward.gated import GatedFeedForward
from glassformer.layers.feed_forward.mlp import FeedForward

FEED_FORWARDS: dict[str, type[FeedForward] | type[GatedFeedForward]] = {
    "mlp": FeedForward,
    "gated": GatedFeedForward,
}

__all__ = ["ACTIVATIONS", "FEED_FORWARDS", "FeedForward", "GatedFeedForward"]
