"""Schedules of every kind, for property tests."""

from hypothesis import strategies as st

from rlscope_jax.capture import Schedule

schedules = st.builds(
    Schedule,
    skip_first=st.integers(0, 5),
    wait=st.integers(0, 5),
    warmup=st.integers(0, 3),
    active=st.integers(1, 4),
    repeat=st.integers(0, 3),
)
