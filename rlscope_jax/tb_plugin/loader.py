"""What TensorBoard loads when it starts: an error here would take it down, so nothing heavy is met."""

from __future__ import annotations

import logging

from tensorboard.plugins import base_plugin

_log = logging.getLogger(__name__)


class RlscopeLoader(base_plugin.TBLoader):
    """Makes the plugin, or gives way: whatever fails, TensorBoard starts without our tab."""

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin | None:
        """The plugin for this TensorBoard; None where it cannot be made, with the reason in the log."""
        try:
            from rlscope_jax.tb_plugin.plugin import RlscopePlugin

            return RlscopePlugin(context)
        except Exception as error:
            _log.warning("rlscope_jax: no RL-Scope tab, %s: %s", type(error).__name__, error)
            return None
