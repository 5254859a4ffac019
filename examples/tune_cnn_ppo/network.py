"""The network of Mnih et al. (2015) as actor and critic; in the rollout with tuned convolutions.

Tuned kernels compute forward only, so the update goes through the plain ones. Both take the same weights.
"""

import jax
import jax.numpy as jnp

from rlscope_jax import operation
from rlscope_jax.tune.use import tuned
from tasks import conv1, conv2

ACTIONS = 4
SHAPES = {
    "conv1": (8, 8, 4, 32),
    "conv2": (4, 4, 32, 64),
    "conv3": (3, 3, 64, 64),
    "dense": (3136, 512),
    "policy": (512, ACTIONS),
    "value": (512, 1),
}


def init(key):
    """Weights, scaled by fan-in."""
    keys = jax.random.split(key, len(SHAPES))
    return {
        name: jax.random.normal(k, shape) * jnp.prod(jnp.array(shape[:-1])) ** -0.5
        for k, (name, shape) in zip(keys, SHAPES.items(), strict=True)
    }


def convolution(image, weights, stride):
    """NHWC without padding, with relu."""
    layout = ("NHWC", "HWIO", "NHWC")
    found = jax.lax.conv_general_dilated(image, weights, (stride, stride), "VALID", dimension_numbers=layout)
    return jax.nn.relu(found)


@tuned(conv1)
def tuned_conv1(image, weights):
    """The winner of `rlscope-jax tune`; this, where there is none."""
    return convolution(image, weights, 4)


@tuned(conv2)
def tuned_conv2(image, weights):
    """See `tuned_conv1`."""
    return convolution(image, weights, 2)


def apply(weights, frames, inference):
    """Logits [n, ACTIONS] and values [n] of frames [n, 84, 84, 4]."""
    with operation("nature_conv1"):
        if inference:
            hidden = tuned_conv1(frames, weights["conv1"])
        else:
            hidden = convolution(frames, weights["conv1"], 4)
    with operation("nature_conv2"):
        if inference:
            hidden = tuned_conv2(hidden, weights["conv2"])
        else:
            hidden = convolution(hidden, weights["conv2"], 2)
    hidden = convolution(hidden, weights["conv3"], 1).reshape(len(frames), -1)
    hidden = jax.nn.relu(hidden @ weights["dense"])
    return hidden @ weights["policy"], (hidden @ weights["value"])[:, 0]
