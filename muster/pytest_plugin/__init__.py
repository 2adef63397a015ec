"""Every pytest hook of Muster; conftest.py loads `muster.pytest_plugin.plugin`, which loads the rest.

Under pytest-xdist the hooks run in every process: the first one lints the features and writes results, the workers
only run scenarios. A result travels between them as an attribute of the pytest report.
"""
