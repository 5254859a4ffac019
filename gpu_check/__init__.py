"""Does rlscope_jax work on this machine's GPU? `make gpu-check` asks; docs/gpu.md explains the answer.

Its parts, from the outside in:

    __main__    checks each variant, prints what came of it, keeps what it left
    check       one variant: record it, describe the file, judge the report
    record      what runs in a process of its own: warm up, time, record a window
    programs    PPO as one compiled program, and driven from a Python loop
    cartpole    the environment, so that nothing but flax and optax is needed
    facts       writes down what the file holds, as jax's own reader sees it
    judge       reads the profile as a user would, and checks that its sums close
"""
