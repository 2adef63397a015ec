"""Where scenarios are played: a cluster, a scheduler and a recorder that stay, and a clean scene for each scenario."""

from muster.stage.jobs import HOME
from muster.stage.own_clusters import Wish
from muster.stage.scene import Scene
from muster.stage.stage import Stage

__all__ = ["HOME", "Scene", "Stage", "Wish"]
