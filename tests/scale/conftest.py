"""What tests of runs share: the sources, their replay on one machine, and a whole run of them."""

import pytest

from tests.support.runs import one_machine, shared_run, shared_sources


@pytest.fixture(scope="session")
def sources():
    return shared_sources()


@pytest.fixture(scope="session")
def expected(tmp_path_factory, sources):
    return one_machine(tmp_path_factory.mktemp("one"), sources)


@pytest.fixture(scope="session")
def whole():
    return shared_run()
