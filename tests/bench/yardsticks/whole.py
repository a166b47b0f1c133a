"""NumPy by hand as a whole program: `python -m tests.bench.yardsticks.whole DATABASE ORDERS`.

It prints the rows of `main` as JSON.
"""

import json
import sys

import duckdb

from tests.bench.yardsticks import vectorized
from tests.bench.yardsticks.protocol import ATTEMPTS, Settings

if __name__ == "__main__":
    settings = Settings(orders=int(sys.argv[2]))
    with duckdb.connect(sys.argv[1], read_only=True) as con:
        form = vectorized.prepare(con.sql(ATTEMPTS).to_arrow_table())
    totals = vectorized.replay(form, settings)
    print(json.dumps(vectorized.tabulate(form, totals, settings).main))
