"""A compact PPO shared by the examples: one jitted train step over any batched JAX environment.

Everything the train step does lies in one of these operations, so a profile of it leaves nothing unnamed:

    rollout              collect one trajectory segment
      inference          network forward pass and action sampling
      env_step           environment step, time limit and auto-reset
    gae                  advantages and value targets
    update               epochs of minibatches
      shuffle            permute the batch into minibatches
      loss               clipped surrogate, value and entropy terms (and, differentiated, their backward pass)
      optimizer          gradient clipping, Adam, parameter update
    metrics              the numbers that are printed
"""
