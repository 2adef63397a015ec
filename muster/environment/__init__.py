"""The environment of scenarios: a cluster, a scheduler and a recorder for a worker, and a context for each scenario."""

from muster.cluster.run_scope import DEFAULT_NAMESPACE
from muster.environment.environment import Environment
from muster.environment.scenario import ScenarioContext

__all__ = ["DEFAULT_NAMESPACE", "Environment", "ScenarioContext"]
