"""DECODE: `*.xplane.pb` files to numpy columns, HLO protos to instruction tables. Never imports jax."""
