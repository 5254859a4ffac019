"""rejax: the methods of its algorithms."""

from __future__ import annotations

from rlscope_jax.annotate.auto._library import Library, Patch

LIBRARY = Library(
    "rejax",
    "0.1",
    "0.2",
    (
        Patch("rejax.algos.ppo", "PPO.collect_trajectories", "rollout"),
        Patch("rejax.algos.ppo", "PPO.calculate_gae", "gae"),
        Patch("rejax.algos.ppo", "PPO.update", "update"),
        Patch("rejax.algos.ppo", "PPO.update_actor", "actor"),
        Patch("rejax.algos.ppo", "PPO.update_critic", "critic"),
        Patch("rejax.algos.dqn", "DQN.collect_transitions", "rollout"),
        Patch("rejax.algos.dqn", "DQN.update", "update"),
        Patch("rejax.algos.sac", "SAC.collect_transitions", "rollout"),
        Patch("rejax.algos.sac", "SAC.update", "update"),
        Patch("rejax.algos.sac", "SAC.update_actor", "actor"),
        Patch("rejax.algos.sac", "SAC.update_critic", "critic"),
        Patch("rejax.evaluate", "evaluate", "evaluate"),
    ),
)
