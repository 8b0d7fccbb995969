"""Chapter 7: encoder, decoder and the bridge between them."""
