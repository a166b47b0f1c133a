"""What commands import while they run, for the process that the soaks fork."""

import importlib

from audit.tokens import encodings

for name in (
    *("splintr", "tiktoken", "vl_convert"),
    *("audit.__main__", "audit.cli", "audit.engine.check", "audit.load.load"),
    *("audit.output.export", "audit.query.run", "audit.report", "audit.study.compare"),
    "audit.tokens",
):
    importlib.import_module(name)
# It takes a second, and a fork has it.
encodings.build_o200k(encodings.DEFAULT)
