-- primary_ledger: the ledger at the primary cap alone, which the tables use.
-- grain: rule, walk_id, budget
{% set stops = 'primary_stops' %}
{% include 'evaluation/ledger.sql' %}
