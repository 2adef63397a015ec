"""One test function per requirement id, so that node ids, JUnit names and histories survive a new title."""

from pathlib import Path

import pytest
from pytest_bdd import scenario

from muster.suite.behaviours import Behaviour, read_features

_FEATURES = Path(__file__).parent

# Steps request it as well, but then the start of the cluster would count as part of the first step.
pytestmark = pytest.mark.usefixtures("scenario")


def _test_of(behaviour: Behaviour) -> object:
    @scenario(str(behaviour.feature_file), behaviour.title)
    def test() -> None:
        """Its steps are in the feature file."""

    return test


globals().update({each.test_name: _test_of(each) for each in read_features(_FEATURES).behaviours if each.id})
