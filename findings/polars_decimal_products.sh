#!/usr/bin/env bash
# polars==2.1.0.
# A product or quotient of two decimals has as many places as the factors have in polars' expressions, so digits are lost
# in each row before a sum. polars' own SQL gives the product all its places, as DuckDB and Arrow do. The docstring of
# `Decimal` does not say it (pull request 24542 does).
# Guess before: the sum of 1000 products of 19.99 and 0.07 is 1399.30, in SQL and in expressions.
# Seen: it is 1400.00 by expressions and 1399.3000 by SQL; 0.05 times 0.05 is 0.00 and 0.0025.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install polars==2.1.0
"$folder/env/bin/python" - <<'PYTHON'
from decimal import Decimal

import polars

kind = polars.Decimal(12, 2)


def total(amount, rate, rows):
    columns = {"amount": [Decimal(amount)] * rows, "rate": [Decimal(rate)] * rows}
    table = polars.DataFrame(columns, schema={"amount": kind, "rate": kind})
    expression = table.select((polars.col("amount") * polars.col("rate")).sum()).item()
    query = polars.SQLContext(rows=table).execute("select sum(amount * rate) from rows").collect().item()
    print(rows, "times", amount, "*", rate, "by expressions", expression, "by SQL", query)
    return expression, query


assert total("19.99", "0.07", 1000) == (Decimal("1400.00"), Decimal("1399.30"))
assert total("0.05", "0.05", 1) == (Decimal("0.00"), Decimal("0.0025"))
PYTHON
