"""Chapter: encoder, decoder and the bridge between them."""
